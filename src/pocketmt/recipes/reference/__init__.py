"""What the engine computes, in PyTorch: the network of a model file."""
