"""Model files that PyTorch translates with, on a GPU or on the processor."""
