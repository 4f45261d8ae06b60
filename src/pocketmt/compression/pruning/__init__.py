"""Pruning in the stages of a recipe: of sub-layers, whose matrices become smaller, and of single weights."""
