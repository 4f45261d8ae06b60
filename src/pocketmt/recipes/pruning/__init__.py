"""Pruning as a recipe's stage does it: on a network's sub-layers, whose matrices are smaller afterwards."""
