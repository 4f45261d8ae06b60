"""The networks in PyTorch, which define what is right, and their reference search."""
