"""Quantization-aware training of a matrix: one trainer class for each method of a recipe."""
