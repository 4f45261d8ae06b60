"""Quantized activations in a model file: their trained ranges, or how inputs of quantized matrices are quantized."""
