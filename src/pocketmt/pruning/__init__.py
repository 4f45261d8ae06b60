"""Pruning methods: they choose the weights to remove. A method sees tensors, never a network, a file or a recipe."""
