"""Pruning methods: what of a network is of no use. A method sees tensors, never a network, a file or a recipe."""
