"""Activations of feed-forward networks, by the description's field `activation`."""

from collections.abc import Callable
from functools import partial
from typing import Final

import torch
from torch import Tensor, nn


class SigmoidGELU(nn.Module):
    """x sigmoid(1.702 x), an approximation of GELU (Hendrycks and Gimpel 2016, section 2)."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return x * torch.sigmoid(1.702 * x)


ACTIVATIONS: Final[dict[str, Callable[[], nn.Module]]] = {
    "relu": nn.ReLU,
    "swish": nn.SiLU,
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
    "gelu_sigmoid": SigmoidGELU,
}
