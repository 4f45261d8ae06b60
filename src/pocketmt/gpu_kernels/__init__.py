"""Kernels for GPUs in Triton, for work that PyTorch's own do in many passes over memory in a decoding step.

PyTorch's builds for GPUs bring Triton along. A kernel is compiled when it is first called.
"""
