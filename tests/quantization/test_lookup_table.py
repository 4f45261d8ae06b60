"""Nearest values, exactly: weights at, just above and just below the midpoint of two values."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization.lookup_table import nearest_codes


def by_halves(weight: Tensor, values: Tensor) -> Tensor:
    """The definition in float64."""
    ordered, codes = values.double().sort(dim=1, stable=True)
    middles = (ordered[:, :-1] + ordered[:, 1:]) / 2
    rows = [
        codes[row][torch.searchsorted(middles[row].contiguous(), each.double())]
        for row, each in ((row if len(values) > 1 else 0, each) for row, each in enumerate(weight))
    ]
    return torch.stack(rows).to(torch.uint8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("tables", [1, 3])
@given(seed=st.integers(0, 10**6), count=st.sampled_from([1, 2, 3, 4, 8, 16, 17, 256]))
def test_the_nearest_value_at_and_around_each_midpoint(tables: int, dtype: torch.dtype, seed: int, count: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(tables, count, generator=generator, dtype=torch.float64)
    ordered = values.sort(dim=1).values
    middles = ((ordered[:, :-1] + ordered[:, 1:]) / 2).to(dtype).expand(3, -1)
    above, below = (torch.nextafter(middles, torch.full_like(middles, way * torch.inf)) for way in (1, -1))
    anywhere = torch.randn(3, 20, generator=generator, dtype=torch.float64).to(dtype)
    weight = torch.cat([middles, above, below, anywhere], dim=1)
    assert torch.equal(nearest_codes(weight, values), by_halves(weight, values))
