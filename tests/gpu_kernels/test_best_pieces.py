"""The best pieces of rows, compared with a stable sort."""

import math

import pytest
import torch


@pytest.mark.parametrize("pieces", [7, 1000, 1025, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("count", [1, 3, 4, 7])
@pytest.mark.parametrize("logits", [True, False])
def test_equal_values_are_in_the_order_of_their_pieces(
    pieces: int, dtype: torch.dtype, count: int, logits: bool
) -> None:
    from pocketmt.gpu_kernels.best_pieces import best_pieces

    torch.manual_seed(1)
    values = (torch.randn(4, pieces).mul(3).round() / 3).to(dtype)  # Many are equal.
    values[:, 3] = -math.inf
    values[1] = -math.inf
    values[1, 2] = 1.0
    best, found = best_pieces(values, count, logits=logits)
    order = values.float().sort(dim=-1, descending=True, stable=True)[1][:, :count]
    expected = torch.log_softmax(values.double(), dim=-1) if logits else values.double()
    assert torch.equal(found, order)
    torch.testing.assert_close(best.double(), expected.gather(1, order), atol=2e-6, rtol=1e-6)


def test_rows_without_numbers_have_pieces_of_no_probability() -> None:
    from pocketmt.gpu_kernels.best_pieces import best_pieces

    values = torch.full((2, 40), math.nan)
    values[1] = -math.inf
    best, found = best_pieces(values, 3, logits=True)
    assert not bool((best > -math.inf).any())
    assert 0 <= int(found.min()) <= int(found.max()) < 40
