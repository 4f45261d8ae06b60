import torch
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.quantization.rounding import bfloat16_at_least, bfloat16_nearest

SCALES = st.lists(st.floats(0, 1e36, allow_subnormal=True), min_size=1, max_size=8)


@given(values=SCALES)
def test_rounding_up_gives_the_least_bfloat16_that_is_not_below(values: list[float]) -> None:
    scale = torch.tensor(values, dtype=torch.float64)
    rounded = bfloat16_at_least(scale)
    assert torch.equal(rounded.to(torch.bfloat16).to(torch.float32), rounded)
    assert bool((rounded.double() >= scale).all())
    below = ((rounded.view(torch.int32) >> 16) - 1 << 16).view(torch.float32)  # the bfloat16 before it
    assert bool(((below.double() < scale) | (scale == 0)).all())


def test_rounding_to_the_nearest() -> None:
    # bfloat16 keeps 8 bits: 257 lies between 256 and 258, 1.001 nearest to 1.
    assert bfloat16_nearest(torch.tensor([1.001, 257.5, 0.0], dtype=torch.float64)).tolist() == [1.0, 258.0, 0.0]
