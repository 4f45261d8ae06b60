"""A family of models for everyday sentences, made by the whole pipeline from one configuration file."""
