"""Whether Triton's kernels can be used, and their limits."""

from importlib.util import find_spec
from typing import Final

import torch
from torch import Tensor

MOST_QUERIES: Final = 16  # Of a sentence: more are not faster than PyTorch's attention.
MOST_PIECES: Final = 8  # Of a row: more do not fit the registers of a program.
_TRITON_IS_INSTALLED: Final = find_spec("triton") is not None


def kernels_take(tensor: Tensor) -> bool:
    """Return whether the kernels can be called with a tensor: it is on a GPU, and Triton is installed.

    Layers that PyTorch compiles do not call them.
    """
    return tensor.is_cuda and _TRITON_IS_INSTALLED and not torch.compiler.is_compiling()
