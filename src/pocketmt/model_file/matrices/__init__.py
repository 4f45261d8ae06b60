"""Matrices in a model file: stored forms of quantized ones, entropy coding, sparse matrices and grouped vectors."""
