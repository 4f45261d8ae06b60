"""Parameters rounded to what the model file stores: bfloat16 for each row, float32 for a matrix."""

import torch
from torch import Tensor

_LOW_HALF = 0xFFFF  # the bits of a float32 that bfloat16 drops


def bfloat16_at_least(scale: Tensor) -> Tensor:
    """Round non-negative float64 scales up to bfloat16, returned as float32 of the same shape."""
    bits = float32_at_least(scale).view(torch.int32)
    return ((bits + _LOW_HALF) & ~_LOW_HALF).view(torch.float32)


def bfloat16_at_most(values: Tensor) -> Tensor:
    """Round float64 values down to bfloat16, returned as float32; none below the lowest finite one."""
    single = values.to(torch.float32)
    single = torch.where(single.double() > values, torch.nextafter(single, torch.full_like(single, -torch.inf)), single)
    bits = single.view(torch.int32)  # sign and magnitude: a larger magnitude is a lower negative number
    down = (torch.where(single < 0, bits + _LOW_HALF, bits) & ~_LOW_HALF).view(torch.float32)
    return down.clamp(min=torch.finfo(torch.bfloat16).min)


def bfloat16_nearest(scale: Tensor) -> Tensor:
    """Round scales to the nearest bfloat16, returned as float32 of the same shape."""
    return scale.to(torch.bfloat16).to(torch.float32)


def float32_at_least(scale: Tensor) -> Tensor:
    """Round non-negative float64 scales up to float32."""
    single = scale.to(torch.float32)
    return torch.where(single.double() < scale, torch.nextafter(single, torch.full_like(single, torch.inf)), single)
