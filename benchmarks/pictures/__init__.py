"""The pictures of docs/pictures, drawn from records (`python -m benchmarks.pictures`)."""
