"""The container of a model file: its header, strict JSON, and xz compression of tensors and of the whole file."""
