"""Speed of the products of every family and width beside the 8-bit product (`python -m benchmarks.kernels`)."""
