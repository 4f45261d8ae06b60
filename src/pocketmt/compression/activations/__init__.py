"""Quantized activations: operations within estimated ranges, and inputs of quantized matrices."""
