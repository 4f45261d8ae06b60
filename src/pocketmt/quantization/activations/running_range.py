"""Activations quantized within a range that is estimated during training."""

from typing import Final

import torch
from torch import Tensor, nn

MOMENTUM: Final = 0.9


def fake_quantize_range(
    x: Tensor, minimum: Tensor, maximum: Tensor, bits: int, clamped_gradient: bool = False
) -> Tensor:
    """Fake-quantize to 2^bits even steps from minimum to maximum (Prato et al. 2020, section 3.1, eq. 1-3).

    The gradient passes straight through the rounding and is zero for clamped values, unless `clamped_gradient`.

    Args:
        x: float, any shape.
        minimum: lower end of the range, broadcast to x.
        maximum: its upper end; if both ends are equal, they are the result.
        bits: of a code.
        clamped_gradient: whether the gradient also passes for clamped values.

    Returns:
        Floats of the shape of x.
    """
    scale = (maximum - minimum) / (2**bits - 1)
    step = torch.where(scale > 0, scale, torch.ones_like(scale))
    clamped = torch.minimum(torch.maximum(x, minimum), maximum)
    rounded = ((clamped.detach() - minimum) / step).round() * step + minimum
    through = x if clamped_gradient else _clamp(x, minimum, maximum)
    return through + (rounded - through).detach()


def _clamp(x: Tensor, minimum: Tensor, maximum: Tensor) -> Tensor:
    """Clamp with gradient 1 in the range, ends included, and 0 outside (torch.minimum has 1/2 at a tie)."""
    inside = (x >= minimum) & (x <= maximum)
    return torch.where(inside, x, x.detach().clamp(minimum, maximum))


class RunningRange(nn.Module):
    """Quantizes an activation within an exponential moving average of its minimum and maximum.

    Source: Prato et al. 2020, section 3.1. Ranges are updated in training mode. Before the first estimate, and while
    `quantizing` is not set, the activation passes unchanged. With buckets (section 3.3) each element of one dimension
    has its own range. That dimension must not vary between batches: it is the last one, or the heads of a softmax.
    """

    minimum: Tensor  # [buckets], or [1]
    maximum: Tensor  # the same
    estimates: Tensor  # [], number of batches seen

    def __init__(
        self,
        bits: int,
        buckets: int = 1,
        fixed_minimum: float | None = None,
        clamped_gradient: bool = False,
        dimension: int = -1,
    ) -> None:
        """Create a range without an estimate.

        Args:
            bits: of a code.
            buckets: size of the dimension whose elements have their own ranges; 1: one range for all.
            fixed_minimum: a known minimum (0 after a ReLU, section 3.4); None: it is estimated.
            clamped_gradient: whether the gradient passes for clamped values.
            dimension: of the buckets, counted from the last, -1.
        """
        super().__init__()
        self.bits = bits
        self.dimension = dimension
        self.fixed_minimum = fixed_minimum
        self.clamped_gradient = clamped_gradient
        self.quantizing = True
        # Positions [B, T] that are not padding; None: all, or unknown.
        self.kept: Tensor | None = None
        self.register_buffer("minimum", torch.zeros(buckets))
        self.register_buffer("maximum", torch.zeros(buckets))
        self.register_buffer("estimates", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        """[.., size] -> the same shape."""
        if self.training:
            self._observe(x.detach())
        if not self.quantizing or not self.estimates:
            return x
        behind = (1,) * (-1 - self.dimension)
        low, high = self.minimum.view(-1, *behind), self.maximum.view(-1, *behind)
        return fake_quantize_range(x, low, high, self.bits, self.clamped_gradient)

    def _observe(self, x: Tensor) -> None:
        if self.kept is not None and self.kept.shape == x.shape[: self.kept.dim()]:
            x = x[self.kept]  # padding is ignored (section 3.4)
        rows = x.movedim(self.dimension, -1) if len(self.minimum) > 1 else x
        rows = rows.reshape(-1, len(self.minimum))
        if not len(rows):
            return
        low, high = rows.amin(dim=0), rows.amax(dim=0)
        if self.fixed_minimum is not None:
            low = torch.full_like(low, self.fixed_minimum)
        momentum = MOMENTUM if self.estimates else 0.0
        self.minimum.mul_(momentum).add_(low, alpha=1 - momentum)
        self.maximum.mul_(momentum).add_(high, alpha=1 - momentum)
        self.estimates += 1
