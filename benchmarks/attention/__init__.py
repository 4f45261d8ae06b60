"""Attention weights of several models in one sentence, in a picture (`python -m benchmarks.attention`)."""
