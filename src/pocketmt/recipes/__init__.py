"""From a trained PyTorch model to a model file, and back for reference."""
