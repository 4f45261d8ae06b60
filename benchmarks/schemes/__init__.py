"""Speed and memory of every form of a model file beside 8 bit of one network (`python -m benchmarks.schemes`)."""
