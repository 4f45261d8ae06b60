"""The demo: a small model from a large one and plain text (`make demo`)."""
