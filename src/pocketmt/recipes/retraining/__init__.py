"""Carrying a recipe out: its stages, their retraining, and the text that they learn from."""
