"""The pictures of docs/speed.md and docs/kernels.md, drawn from their records (`python -m benchmarks.pictures`)."""
