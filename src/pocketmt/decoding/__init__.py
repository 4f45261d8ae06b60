"""Batched translation by PyTorch, in tensors of fixed shapes: on a GPU, or on the processor by the same code."""
