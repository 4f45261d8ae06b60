"""Attention by fused kernels, which a GPU runs, against the plain formula."""

import pytest
import torch

from pocketmt.models.attention import DotProductAttention, fused_attention


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("queries", [1, 5])
def test_fused_attention_is_the_plain_formula(queries: int, masked: bool) -> None:
    torch.manual_seed(1)
    query, key, value = (torch.randn(3, 2, positions, 8) for positions in (queries, 5, 5))
    mask = torch.zeros(3, 1, 1, 5).masked_fill_(torch.arange(5) >= 4, -torch.inf) if masked else None
    expected = DotProductAttention(0.0)(query, key, value, mask)
    torch.testing.assert_close(fused_attention(query, key, value, mask, 0.0), expected)


def test_a_mask_in_full_precision_suits_queries_in_half_precision() -> None:
    query, key, value = (torch.randn(1, 2, 3, 8, dtype=torch.bfloat16) for _ in range(3))
    mask = torch.zeros(1, 1, 1, 3)
    assert fused_attention(query, key, value, mask, 0.0).dtype == torch.bfloat16


def test_fused_attention_drops_weights() -> None:
    torch.manual_seed(1)
    query, key = torch.zeros(2, 1, 200, 8), torch.zeros(2, 1, 400, 8)
    attended = fused_attention(query, key, torch.ones(2, 1, 400, 8), None, 0.5)
    assert attended.std() > 0.01
    torch.testing.assert_close(attended.mean(), torch.tensor(1.0), atol=0.02, rtol=0)
