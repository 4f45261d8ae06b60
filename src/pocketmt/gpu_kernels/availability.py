"""Whether Triton's kernels can be used."""

from importlib.util import find_spec
from typing import Final

import torch
from torch import Tensor

_TRITON_IS_INSTALLED: Final = find_spec("triton") is not None


def kernels_take(tensor: Tensor) -> bool:
    """Return whether the kernels can be called with a tensor: it is on a GPU, and Triton is installed.

    Layers that PyTorch compiles do not call them.
    """
    return tensor.is_cuda and _TRITON_IS_INSTALLED and not torch.compiler.is_compiling()
