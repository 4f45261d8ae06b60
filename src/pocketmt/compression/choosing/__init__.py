"""Recipes chosen by measurement: the sensitivity of each part of a network, and bits for a size."""
