"""Sums in double precision, so that a result does not depend on the order in which PyTorch adds.

The order depends on the shapes of a batch. Where a result is then rounded, to codes of activations or to a 16-bit
type, a difference in the last bit becomes one of a rounding step. A sum in double precision, rounded once, is the same
in any order but in about one of 10^8 cases. On the processor, networks that round use such sums: a translation there is
that of the reference, in any batch. GPUs use their own products, which are faster.
"""

import math

from torch import Tensor, nn

from pocketmt.models.attention import DotProductAttention
from pocketmt.models.network import TranslationNetwork


def exact_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x [.., inputs] times a weight [outputs, inputs], plus a bias [outputs], in the type of x."""
    product = nn.functional.linear(x.double(), weight.double(), None if bias is None else bias.double())
    return product.to(x.dtype)


class ExactLinear(nn.Module):
    """A linear layer with the parameters of another."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        """Take a weight [outputs, inputs] and a bias [outputs] of one float type."""
        super().__init__()
        self.register_buffer("weight", weight.detach().double())
        self.register_buffer("bias", None if bias is None else bias.detach().double())

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> [.., outputs]."""
        return exact_linear(x, self.weight, self.bias)


class ExactAttention(DotProductAttention):
    """Attention in evaluation mode, of which only the result is rounded."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Attend as `DotProductAttention.forward` does, whose shapes these are."""
        scores = query.double() @ key.double().transpose(-1, -2) * (1.0 / math.sqrt(query.shape[-1]))
        if mask is not None:
            scores = scores + mask
        attended: Tensor = self.softmax(scores) @ value.double()
        return attended.to(query.dtype).transpose(1, 2).flatten(2)


def use_exact_sums(network: TranslationNetwork) -> None:
    """Replace what adds floats in a network in evaluation mode; products of codes are exact already."""
    for name, module in list(network.named_modules()):
        if isinstance(module, nn.Linear):
            _replace(network, name, ExactLinear(module.weight, module.bias))
        elif isinstance(module, DotProductAttention) and module.is_plain():
            _replace(network, name, ExactAttention(0.0))
    if network.projection is None:
        network.projection = ExactLinear(network.output_weight, network.output.bias)


def _replace(network: nn.Module, name: str, module: nn.Module) -> None:
    parent, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(parent), attribute, module)
