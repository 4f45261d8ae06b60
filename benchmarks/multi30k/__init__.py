"""Quality on Multi30k: trained models in all schemes and recipes, in the engine and in the PyTorch reference."""
