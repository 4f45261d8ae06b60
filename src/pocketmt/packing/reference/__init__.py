"""The PyTorch reference of the engine: the network of a model file."""
