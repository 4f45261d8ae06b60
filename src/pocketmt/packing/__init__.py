"""Packing of trained weights into a model file, and the PyTorch reference of a model file."""
