"""From codes and parameters to the bytes of a model file."""
