"""Attention of a decoding step, compared with PyTorch's in double precision."""

import math

import pytest
import torch
from torch import Tensor

# The interpreter cannot multiply matrices of bfloat16.
TOLERANCES = {torch.float32: 2e-6, torch.float16: 2e-3}
# Sentences, heads, hypotheses, head size, positions.
SHAPES = [(3, 2, 1, 16, 5), (2, 3, 4, 40, 70), (2, 2, 3, 64, 33), (2, 1, 16, 8, 20)]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masked", [True, False])
def test_hypotheses_attend_to_their_sentence(
    shape: tuple[int, int, int, int, int], dtype: torch.dtype, masked: bool
) -> None:
    from pocketmt.gpu_kernels.step_attention import attend

    count, heads, queries, size, positions = shape
    torch.manual_seed(1)
    query = torch.randn(count, queries, heads, size).to(dtype).transpose(1, 2)
    key, value = (torch.randn(count, heads, positions, size).to(dtype) for _ in range(2))
    mask = torch.zeros(count, 1, 1, positions)
    for sentence in range(1, count):
        mask[sentence, ..., positions - sentence :] = -math.inf
        if masked:  # What is hidden is not read.
            key[sentence, :, positions - sentence :] = math.nan
            value[sentence, :, positions - sentence :] = math.nan
    found = attend(query, key, value, mask if masked else None)
    shown = mask if masked else torch.zeros_like(mask)
    expected = attended(query, key.nan_to_num(), value.nan_to_num(), shown)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, atol=TOLERANCES[dtype], rtol=0)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ranked", [True, False])
def test_a_step_stores_and_attends_to_what_was_written(
    shape: tuple[int, int, int, int, int], dtype: torch.dtype, ranked: bool
) -> None:
    from pocketmt.gpu_kernels.step_attention import attend_and_store
    from pocketmt.models.attention import FixedCache, Steps, position_mask, split_heads

    count, heads, beam, size, positions = shape
    torch.manual_seed(2)
    rows = count * beam
    fused = torch.randn(rows, 3 * heads * size).to(dtype)
    key, value = (torch.randn(rows, heads, positions, size).to(dtype) for _ in range(2))
    position = torch.randint(positions, (count,)).repeat_interleave(beam)
    writers = torch.randint(beam, (count, beam, positions)) if ranked else None
    if writers is not None:  # Each hypothesis writes its own position.
        here = position.view(count, beam, 1)
        writers.scatter_(2, here, torch.arange(beam).view(1, beam, 1).expand_as(here))
    cache = FixedCache(key.clone(), value.clone(), Steps(position, writers))
    query, new_key, new_value = (split_heads(part, heads) for part in fused[:, None].chunk(3, dim=-1))
    keys, values = cache.write(new_key, new_value)
    expected = attended(query, keys, values, position_mask(position, positions))
    found = attend_and_store(fused, key, value, position, writers)
    torch.testing.assert_close(found.double(), expected[:, 0], atol=TOLERANCES[dtype], rtol=0)
    assert torch.equal(key, cache.key) and torch.equal(value, cache.value)


def attended(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    scores = query.double() @ key.double().transpose(-1, -2) / math.sqrt(query.shape[-1]) + mask.double()
    return (torch.softmax(scores, -1) @ value.double()).transpose(1, 2).flatten(2)
