"""Comparison of a model with a smaller one made from it: sizes, quality, agreement, speed, and a page of all that."""
