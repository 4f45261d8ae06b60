"""Quantization of activations: dynamic, logarithmic, static, and within trained ranges."""
