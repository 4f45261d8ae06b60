"""Speed and memory of all forms of model files, compared with 8 bit (`python -m benchmarks.schemes`)."""
