"""Speed and memory of every stored form of weights beside 8 bit of one network (`python -m benchmarks.schemes`)."""
