"""Weights are packed for a GPU in few bytes, and the logits of every scheme stay the same."""

from pathlib import Path

import pytest
import torch

from pocketmt.decoding.decoder import Decoder
from pocketmt.models.inputs import decoder_input, encoder_input, pad
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.device.precision import DecodingLinear, load_network
from pocketmt.packing.reference.network import QuantizedLinear
from pocketmt.packing.reference.packed_numbers import PackedNumbers
from pocketmt.packing.reference.stored_rows import StoredRows
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine import reference, test_fully_quantized
from tests.engine.conftest import sentences
from tests.engine.test_schemes import GROUPS, SCHEMES, write

# Bits of a weight on a GPU. Sums of three and four factors have other values in each row.
BITS = {
    "uniform": 8,
    "affine 4": 4,
    "affine": 8,
    "logarithmic 1": 1,
    "logarithmic 2": 2,
    "logarithmic": 4,
    "codebook 1": 1,
    "codebook 2": 2,
    "codebook 8": 8,
    "codebook": 4,
    "fixed": 1,
    "flexible": 1,
    "binary 1": 1,
    "binary 2": 2,
    "binary": 8,
}


def pack(network: TranslationNetwork) -> None:
    for module in network.modules():
        if isinstance(module, StoredRows):
            module.store_packed()


@torch.inference_mode()
def logits(network: TranslationNetwork) -> torch.Tensor:
    shape = network.architecture
    sources = pad([encoder_input(shape, source) for source in sentences(3)])
    return network.logits(network(sources, pad([decoder_input(shape, target) for target in sentences(3, seed=1)])))


def assert_the_same_packed(network: TranslationNetwork) -> None:
    expected = logits(network)
    weights = [module.weight() for module in network.modules() if isinstance(module, QuantizedLinear)]
    pack(network)
    assert any(isinstance(module, PackedNumbers) for module in network.modules())
    assert torch.equal(logits(network), expected)
    after = [module.weight() for module in network.modules() if isinstance(module, QuantizedLinear)]
    assert all(torch.equal(*pair) for pair in zip(weights, after, strict=True))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme(tmp_path: Path, vocabulary: Vocabulary, scheme: str) -> None:
    groups = (RowGroup(SCHEMES[scheme]),)
    network = write(tmp_path / "model.pocketmt", vocabulary, groups, groups)
    assert_the_same_packed(network)
    bits = next(bits for name, bits in BITS.items() if scheme.startswith(name))
    linears = [module for module in network.modules() if isinstance(module, QuantizedLinear)]
    weights = sum(linear.weight().numel() for linear in linears)
    numbers = [each for linear in linears for name, each in linear.named_buffers() if name.endswith("_stored")]
    assert 8 * sum(each.numel() * each.element_size() for each in numbers) == bits * weights


@pytest.mark.parametrize("scheme", ["affine 4 row", "logarithmic 3 matrix", "binary 2"])
def test_rows_that_do_not_fill_bytes(tmp_path: Path, vocabulary: Vocabulary, scheme: str) -> None:
    groups = (RowGroup(SCHEMES[scheme]),)
    assert_the_same_packed(write(tmp_path / "model.pocketmt", vocabulary, groups, groups, "odd"))


@pytest.mark.parametrize("groups", GROUPS)
def test_rows_of_several_schemes(tmp_path: Path, vocabulary: Vocabulary, groups: str) -> None:
    assert_the_same_packed(
        write(tmp_path / "model.pocketmt", vocabulary, GROUPS[groups], (RowGroup(SCHEMES["binary 3"]),))
    )


def test_fully_quantized_networks(tmp_path: Path, vocabulary: Vocabulary) -> None:
    strategy = test_fully_quantized.EXACT["strategy"]
    assert_the_same_packed(test_fully_quantized.write(tmp_path / "model.pocketmt", vocabulary, strategy))


@pytest.mark.parametrize("precision", ["float32", "int8_float32", "int8_bfloat16"])
def test_precisions(tmp_path: Path, vocabulary: Vocabulary, precision: str) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, vocabulary, GROUPS["two"], (RowGroup(SCHEMES["logarithmic 4 row"]),))
    network, packed = (load_network(str(path), precision, torch.device("cpu")) for _ in range(2))
    assert_the_same_packed(packed)
    sources = sentences(3, longest=6)
    assert Decoder([packed]).best(sources, 2) == Decoder([network]).best(sources, 2)


@pytest.mark.parametrize("precision", ["packed_float16", "packed_bfloat16"])
@pytest.mark.parametrize("scheme", ["codebook 2", "logarithmic 4 row", "affine 4 row", "binary 2", "uniform"])
def test_weights_decoded_for_each_product_compute_what_decoded_ones_do(
    tmp_path: Path, vocabulary: Vocabulary, scheme: str, precision: str
) -> None:
    path = tmp_path / "model.pocketmt"
    groups = (RowGroup(SCHEMES[scheme]),)
    write(path, vocabulary, groups, groups)
    decoded = load_network(str(path), precision.removeprefix("packed_"), torch.device("cpu"))
    packed = load_network(str(path), precision, torch.device("cpu"))
    expected = logits(decoded)
    assert torch.equal(logits(packed), expected)
    pack(packed)  # As on a GPU.
    assert torch.equal(logits(packed), expected)
    sources = sentences(3, longest=6)
    assert Decoder([packed]).best(sources, 2) == Decoder([decoded]).best(sources, 2)
    bits = next(bits for name, bits in BITS.items() if scheme.startswith(name))
    layers = [module for module in packed.modules() if isinstance(module, DecodingLinear)]
    assert packed.projection in layers
    assert not [
        name
        for name, _ in packed.named_parameters()
        if name.endswith("weight") and "norm" not in name and "embedding" not in name
    ]
    weights = sum(layer.stored.weight().numel() for layer in layers)
    numbers = [each for layer in layers for name, each in layer.named_buffers() if name.endswith("_stored")]
    assert 8 * sum(each.numel() * each.element_size() for each in numbers) == bits * weights


def test_matrices_in_float_stay_layers_of_floats(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "model.pocketmt"
    reference.write(path, reference.random_network(reference.architecture()), vocabulary, reference.mixed)
    packed = load_network(str(path), "packed_bfloat16", torch.device("cpu"))
    kinds = {name: type(module).__name__ for name, module in packed.named_modules() if "feed_forward" in name}
    assert "ExactLinear" in kinds.values() and "DecodingLinear" in kinds.values()
    assert torch.equal(logits(packed), logits(load_network(str(path), "bfloat16", torch.device("cpu"))))
