"""Quantized activations: where paper Q puts them, how their ranges are found, and how products read them."""
