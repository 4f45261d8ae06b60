"""Activations whose range is estimated while training, and quantized within it [Q1, Q2, Q4]."""

from typing import Final

import torch
from torch import Tensor, nn

MOMENTUM: Final = 0.9


def fake_quantize_range(
    x: Tensor, minimum: Tensor, maximum: Tensor, bits: int, clamped_gradient: bool = False
) -> Tensor:
    """Quantize to 2^bits even steps from minimum to maximum and rescale ([Q1], eq. 1-3).

    The gradient passes straight through the rounding and is zero where x is clamped, unless `clamped_gradient`.

    Args:
        x: float, any shape.
        minimum: the range's lower end, broadcast to x.
        maximum: its upper end; where both ends are equal, they are the result.
        bits: of a code.
        clamped_gradient: whether the gradient passes where x is clamped, too.

    Returns:
        As x.
    """
    scale = (maximum - minimum) / (2**bits - 1)
    step = torch.where(scale > 0, scale, torch.ones_like(scale))
    clamped = torch.minimum(torch.maximum(x, minimum), maximum)
    rounded = ((clamped.detach() - minimum) / step).round() * step + minimum
    through = x if clamped_gradient else _clamp(x, minimum, maximum)
    return through + (rounded - through).detach()


def _clamp(x: Tensor, minimum: Tensor, maximum: Tensor) -> Tensor:
    """Clamp with gradient 1 in the range, ends included, and 0 outside (torch.minimum's is a half at a tie)."""
    inside = (x >= minimum) & (x <= maximum)
    return torch.where(inside, x, x.detach().clamp(minimum, maximum))


class RunningRange(nn.Module):
    """Quantizes an activation within an exponential moving average of its minimum and maximum [Q2].

    Ranges are estimated in training mode while `observing`, and stand still otherwise; before the first estimate, and
    while not `quantizing`, the activation passes as it is. With buckets each element of one dimension has a range of
    its own: of the last one, or the heads of a softmax, which do not vary from batch to batch ([Q4]; section 5.2 says
    of the denominator that it cannot have buckets for that reason).
    """

    minimum: Tensor  # [buckets], or [1]
    maximum: Tensor  # the same
    estimates: Tensor  # [], how many batches have been seen

    def __init__(
        self,
        bits: int,
        buckets: int = 1,
        fixed_minimum: float | None = None,
        clamped_gradient: bool = False,
        dimension: int = -1,
    ) -> None:
        """Take the bits of a code, the size of the dimension whose elements have ranges of their own, a minimum that is
        known (0 behind a ReLU, section 3.4), whether the gradient passes where values are clamped, and which dimension
        has the buckets, counted from the last, -1.
        """
        super().__init__()
        self.bits = bits
        self.dimension = dimension
        self.fixed_minimum = fixed_minimum
        self.clamped_gradient = clamped_gradient
        self.observing = True
        self.quantizing = True
        # Which positions [B, T] are text rather than padding; None where all are, or where nobody says.
        self.kept: Tensor | None = None
        self.register_buffer("minimum", torch.zeros(buckets))
        self.register_buffer("maximum", torch.zeros(buckets))
        self.register_buffer("estimates", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        """[.., size] -> the same shape."""
        if self.training and self.observing:
            self._observe(x.detach())
        if not self.quantizing or not self.estimates:
            return x
        behind = (1,) * (-1 - self.dimension)
        low, high = self.minimum.view(-1, *behind), self.maximum.view(-1, *behind)
        return fake_quantize_range(x, low, high, self.bits, self.clamped_gradient)

    def _observe(self, x: Tensor) -> None:
        if self.kept is not None and self.kept.shape == x.shape[: self.kept.dim()]:
            x = x[self.kept]  # section 3.4: padding is ignored
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
