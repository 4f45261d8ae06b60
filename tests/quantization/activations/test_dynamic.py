import torch
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.quantization.activations.dynamic import quantize_rows


def test_a_worked_example() -> None:
    # The first row's factor is 127 / 2: 1.0 is 63.5, which goes to the even 64. The second row has its own.
    codes, scale = quantize_rows(torch.tensor([[2.0, 1.0, -0.02], [-200.0, 99.0, 0.0], [0.0, 0.0, 0.0]]))
    assert codes.dtype == torch.int8
    assert codes.tolist() == [[127, 64, -1], [-127, 63, 0], [0, 0, 0]]
    assert scale.tolist() == [torch.tensor(2.0).div(127).item(), torch.tensor(200.0).div(127).item(), 0.0]


@given(seed=st.integers(0, 10**6), exponent=st.integers(-30, 30))
def test_codes_are_within_half_a_step(seed: int, exponent: int) -> None:
    x = torch.randn(3, 2, 40, generator=torch.Generator().manual_seed(seed)) * 2.0**exponent
    codes, scale = quantize_rows(x)
    assert codes.shape == x.shape
    assert scale.shape == (3, 2)
    assert codes.abs().amax() <= 127
    assert bool(((codes * scale[..., None] - x).abs() <= 0.5001 * scale[..., None]).all())


def test_values_too_small_to_divide_by_count_as_zeros() -> None:
    codes, scale = quantize_rows(torch.tensor([[1e-38, -1e-39], [1e-44, 0.0]]))
    assert codes.count_nonzero() == 0
    assert scale.count_nonzero() == 0
