"""Recipes chosen by measurement: what each part of a network bears, and bits for a size."""
