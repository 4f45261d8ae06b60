"""Kernels for GPUs in Triton: what a decoding step computes in many passes over memory with PyTorch's own.

PyTorch's builds for GPUs bring Triton along. A kernel is compiled when it is first called.
"""
