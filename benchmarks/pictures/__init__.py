"""The figures of docs/speed.md and docs/kernels.md, drawn from records (`python -m benchmarks.pictures`)."""
