"""Quality on real text: a trained model in each scheme, by the engine and by the PyTorch reference, on Multi30k."""
