"""Sums whose results do not depend on their order: products, attention, and whole batches."""

from typing import Final

import pytest
import torch
from torch import nn

from pocketmt.models.attention import DotProductAttention
from pocketmt.packing.device.exact_sums import ExactAttention, ExactLinear, exact_linear
from pocketmt.packing.device.precision import PRECISIONS, in_precision
from tests.decoding.test_decoder import ending_network
from tests.decoding.test_precisions import ARCHITECTURES
from tests.engine.conftest import sentences

TYPES: Final = [torch.float32, torch.float16, torch.bfloat16]
CONVERTIBLE: Final = [each for each in PRECISIONS if each != "float32" and not each.startswith("packed_")]


def random(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@torch.inference_mode()
@pytest.mark.parametrize("dtype", TYPES)
def test_a_product_is_the_same_in_any_order(dtype: torch.dtype) -> None:
    x, layer = random(50, 300, dtype=dtype), nn.Linear(300, 70).to(dtype)
    order = torch.randperm(300, generator=torch.Generator().manual_seed(1))
    expected = exact_linear(x, layer.weight, layer.bias)
    assert expected.dtype is dtype
    assert torch.equal(ExactLinear(layer.weight, layer.bias)(x), expected)
    assert torch.equal(exact_linear(x[:, order], layer.weight[:, order], layer.bias), expected)
    assert torch.equal(exact_linear(x[7:8], layer.weight, layer.bias), expected[7:8])
    wide = nn.functional.linear(x.double(), layer.weight.double(), layer.bias.double())
    assert float((expected.double() - wide).abs().max()) <= float(wide.abs().max()) * torch.finfo(dtype).eps


@torch.inference_mode()
@pytest.mark.parametrize("dtype", TYPES)
def test_padding_does_not_change_attention(dtype: torch.dtype) -> None:
    query, key, value = (random(3, 2, length, 16, dtype=dtype, seed=length) for length in (4, 9, 9))
    exact = ExactAttention(0.0).eval()
    found = exact(query, key, value, None)
    assert found.dtype is dtype
    padded = [torch.cat([each, torch.ones(3, 2, 7, 16, dtype=dtype)], dim=2) for each in (key, value)]
    mask = torch.zeros(3, 1, 1, 16)
    mask[..., 9:] = -torch.inf
    assert torch.equal(exact(query, *padded, mask), found)
    plain = DotProductAttention(0.0).eval()(query.float(), key.float(), value.float(), None)
    torch.testing.assert_close(found.float(), plain, rtol=0.01, atol=0.01)


@torch.inference_mode()
@pytest.mark.parametrize("precision", CONVERTIBLE)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_encoder_does_not_depend_on_the_batch(name: str, precision: str) -> None:
    network = in_precision(ending_network(ARCHITECTURES[name]), precision, torch.device("cpu"))
    ids = torch.tensor([[*sentences(1, longest=9)[0], network.architecture.eos_id]])
    alone, _ = network.encode(ids)
    longer = torch.full((13, ids.shape[1] + 5), 7)
    longer[4, : ids.shape[1]], longer[4, ids.shape[1] :] = ids[0], -1
    together, _ = network.encode(longer)
    assert torch.equal(together[4, : ids.shape[1]], alone[0])
