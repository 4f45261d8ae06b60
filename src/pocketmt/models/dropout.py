"""Dropout that draws one random byte for each element, and the dropout rates of a network."""

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Zeroes elements with a probability rounded to 1/256 and scales the others to keep the mean.

    PyTorch's own dropout draws a float for each element, which takes 10 % of the training time of a tiny Transformer on
    a CPU. Here one draw of an int64 gives eight bytes. On a GPU, PyTorch's dropout is one kernel, and is used.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.threshold = min(round(probability * 256), 255)  # 256 would drop everything

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape; the identity outside training."""
        if not self.training or self.threshold == 0:
            return x
        if x.is_cuda:
            return nn.functional.dropout(x, self.threshold / 256)
        draws = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        keep = draws.view(torch.uint8)[: x.numel()].view(x.shape) >= self.threshold
        return x * (keep.to(x.dtype) * (256 / (256 - self.threshold)))


class Dropouts:
    """The dropout rates of a network; `feed_forward` has no effect on a network without feed-forward sub-layers."""

    def __init__(self, residual: float = 0.0, attention: float = 0.0, feed_forward: float = 0.0) -> None:
        self.residual = residual
        self.attention = attention
        self.feed_forward = feed_forward
