"""Pruned sub-layers: a sliced network computes the same as a masked one; groups cover its matrices."""

import dataclasses
import math

import pytest
import torch
from torch import Tensor

from pocketmt.compression.pruning.sublayers import Sublayer, architecture_of, prunable_sublayers, pruned_sizes
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.models.networks import make_network
from tests.small_network import architecture, random_transformer

SOURCE, TARGET = torch.tensor([[5, 9, 7, 2], [8, 2, 0, 0]]), torch.tensor([[1, 11, 12], [1, 6, 0]])
SSRU = dataclasses.replace(architecture("pre", attention_bias=True), decoder_autoregression="ssru")
TIED = dataclasses.replace(architecture(attention_bias=True), decoder_layers=3, tied_decoder_layers=True)


def kept_units(sublayer: Sublayer, weights: dict[str, Tensor]) -> Tensor:
    """Half of the units, the second among them."""
    kept = torch.arange(sublayer.units(weights)) % 2 == 1
    assert 0 < kept.sum() < len(kept)
    return kept


def masked(sublayer: Sublayer, weights: dict[str, Tensor], kept: Tensor) -> dict[str, Tensor]:
    """The network with zeros in the matrices that read the removed units."""
    changed = dict(weights)
    name = sublayer.matrices[-1]
    changed[name] = weights[name] * kept.repeat_interleave(sublayer.unit_size)
    return changed


@pytest.mark.parametrize("shape", [architecture(), architecture("pre", attention_bias=True), SSRU, TIED])
def test_a_sliced_network_computes_what_the_masked_one_does(shape: TransformerArchitecture) -> None:
    network = random_transformer(shape)
    sliced, whole = network.state_dict(), network.state_dict()
    for sublayer in prunable_sublayers(shape):
        kept = kept_units(sublayer, whole)
        whole = masked(sublayer, whole, kept)
        sliced |= {name: cut.of(sliced[name]) for name, cut in sublayer.cuts(kept, sliced).items()}
    small = make_network(architecture_of(shape, sliced)).eval()
    small.load_state_dict(sliced)
    network.load_state_dict(whole)
    assert sum(each.numel() for each in small.parameters()) < sum(each.numel() for each in network.parameters())
    with torch.inference_mode():
        torch.testing.assert_close(small(SOURCE, TARGET), network(SOURCE, TARGET), atol=1e-6, rtol=1e-5)


def test_sizes_are_read_from_weights() -> None:
    shape = architecture()
    weights = random_transformer(shape).state_dict()
    assert architecture_of(shape, weights) == shape
    assert pruned_sizes(shape, weights) == {}
    (layer,) = [each for each in prunable_sublayers(shape) if each.name == "encoder.layers.1.feed_forward"]
    kept = torch.arange(21) < 4
    weights |= {name: cut.of(weights[name]) for name, cut in layer.cuts(kept, weights).items()}
    assert pruned_sizes(shape, weights) == {"encoder_feed_forward": (21, 4)}
    assert architecture_of(shape, weights) == dataclasses.replace(shape, encoder_feed_forward=(21, 4))


def test_an_lstm_has_no_prunable_sub_layers() -> None:
    shape = LstmArchitecture(
        encoder_layers=2,
        decoder_layers=2,
        model_dimension=8,
        recurrent_dimension=8,
        attention_heads=2,
        attention_dimension=8,
        vocabulary_size=60,
    )
    assert prunable_sublayers(shape) == []
    assert architecture_of(shape, make_network(shape).state_dict()) == shape


def test_an_ssru_has_no_prunable_units() -> None:
    names = [each.name for each in prunable_sublayers(SSRU)]
    assert "decoder.layers.0.cross_attention" in names and "decoder.layers.0.feed_forward" in names
    assert not any("ssru" in name for name in names)


@pytest.mark.parametrize("whole_units", [False, True])
def test_groups_are_rows_and_columns_or_heads_of_each_matrix(whole_units: bool) -> None:
    shape = architecture(attention_bias=True)  # two heads of 12, width 14
    weights = random_transformer(shape).state_dict()
    (attention,) = [each for each in prunable_sublayers(shape) if each.name == "encoder.layers.0.self_attention"]
    fused, bias = (weights[f"{attention.name}.query_key_value.{kind}"] for kind in ("weight", "bias"))
    output = weights[f"{attention.name}.output.weight"]
    expected = 0.0
    for head in range(2):
        of_head = [part + 12 * head + element for part in (0, 24, 48) for element in range(12)]
        rows = [of_head[part : part + 12] for part in (0, 12, 24)] if whole_units else [[row] for row in of_head]
        for group in rows:
            expected += math.sqrt(14 * len(group)) * math.hypot(fused[group].norm(), bias[group].norm())
        columns = range(12 * head, 12 * head + 12)
        for group in [list(columns)] if whole_units else [[column] for column in columns]:
            expected += math.sqrt(14 * len(group)) * float(output[:, group].norm())
    found = list(attention.connections(weights, whole_units=whole_units))
    assert float(sum(each.penalty() for each in found)) == pytest.approx(expected, rel=1e-5)
    assert [each.norms().shape for each in found] == [(2, 3), (2, 1)] if whole_units else [(2, 36), (2, 12)]


def test_groups_of_a_feed_forward_layer_are_a_row_and_a_column_a_node() -> None:
    shape = architecture()
    weights = random_transformer(shape).state_dict()
    (layer,) = [each for each in prunable_sublayers(shape) if each.name == "decoder.layers.0.feed_forward"]
    inner, bias = (weights[f"{layer.name}.inner.{kind}"] for kind in ("weight", "bias"))
    for whole_units in (False, True):
        rows, columns = layer.connections(weights, whole_units=whole_units)
        torch.testing.assert_close(rows.norms()[:, 0], torch.cat([inner, bias[:, None]], dim=1).norm(dim=1))
        torch.testing.assert_close(columns.norms()[:, 0], weights[f"{layer.name}.outer.weight"].norm(dim=0))
