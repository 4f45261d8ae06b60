"""One thread at a time on GPUs, with the GPU of its tensors as the current one."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Final

import torch

# Of the process, not of a device: while one thread captures a CUDA graph, calls of another that wait for a GPU or
# allocate its memory fail, or spoil the graph.
_LOCK: Final = RLock()


@contextmanager
def current_device(device: torch.device) -> Iterator[None]:
    """Make a GPU the current one, and keep other threads from GPUs; does nothing for other devices.

    PyTorch's operations find the GPU by their tensors, but kernels of Triton run on the current one.
    """
    if device.type != "cuda":
        yield
        return
    with _LOCK, torch.cuda.device(device):
        yield
