"""Every architecture in every precision: the decoder for GPUs finds the translations of the reference search.

Both run the same network, so products and roundings are the same; only the order of float sums depends on the shapes.
In float32 all lines are equal. Elsewhere a line may differ where two pieces are nearly equal.
"""

from typing import Final

import pytest
import torch

from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import SearchSettings
from pocketmt.model_file import Architecture
from pocketmt.models.inputs import decoder_input, encoder_input, pad
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.packing.device.precision import in_precision
from tests.engine.conftest import sentences
from tests.engine.reference import architecture
from tests.engine.test_lstm import lstm
from tests.engine.test_parity import SHAPES

from .test_decoder import LIMIT, ending_network, requests

CPU: Final = torch.device("cpu")
ARCHITECTURES: Final[dict[str, Architecture]] = {
    "self-attention, norms after": architecture(),
    "self-attention, norms before": architecture(norm="pre"),
    "self-attention, other inputs and outputs": architecture(
        positions="concatenated", first_decoder_input="zero", output_projection="untied", output_bias=True
    ),
    "SSRU": architecture(**SHAPES["recurrent decoder"]),
    "SSRU, tied layers": architecture(**SHAPES["recurrent decoder, pre-norm, tied"]),
    "average attention": architecture(**SHAPES["average attention decoder"]),
    "layers of many sizes": architecture(**SHAPES["layers of many sizes"]),
    "LSTM": lstm(),
}
LINES: Final = 16
# Lines that may differ from the reference, and by how much the scores of equal lines do.
TOLERANCES: Final = {
    "float32": (0, 1e-4),
    "float16": (1, 0.01),
    "bfloat16": (1, 0.03),
    "int8_float32": (1, 0.01),
    "int8_float16": (1, 0.01),
    "int8_bfloat16": (1, 0.03),
}
# Largest difference of a logit from that of the float32 network, in standard deviations of its logits.
ROUNDED: Final = {
    "float32": 1e-5,
    "float16": 0.03,
    "bfloat16": 0.2,
    "int8_float32": 0.4,
    "int8_float16": 0.4,
    "int8_bfloat16": 0.5,
}


@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_translations_equal_the_reference(name: str, precision: str) -> None:
    network = in_precision(ending_network(ARCHITECTURES[name]), precision, CPU)
    sources = sentences(LINES, longest=12)
    differing, tolerance = TOLERANCES[precision]
    found = Decoder([network], 60).translate(requests(sources), SearchSettings(1, scores=False))
    expected = greedy_search(network, sources, lambda _: LIMIT)
    equal = [list(ours[0].ids) == theirs for ours, theirs in zip(found, expected, strict=True)]
    assert equal.count(False) <= differing
    beams = Decoder([network], 60).translate(requests(sources), SearchSettings(3))
    best = beam_search(network, sources, 3, maximum_length=lambda _: LIMIT)
    pairs = [(ours[0], theirs[0]) for ours, theirs in zip(beams, best, strict=True)]
    same = [(ours, theirs) for ours, theirs in pairs if ours.ids == theirs.ids]
    assert LINES - len(same) <= differing
    for ours, theirs in same:
        assert ours.score == pytest.approx(theirs.score, abs=tolerance)


@torch.inference_mode()
def logits(network: TranslationNetwork) -> torch.Tensor:
    shape = network.architecture
    sources = pad([encoder_input(shape, source) for source in sentences(4)])
    targets = pad([decoder_input(shape, target) for target in sentences(4, seed=1)])
    return network.logits(network(sources, targets)).float()


@pytest.mark.parametrize("precision", ROUNDED)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_logits_are_those_of_float32_but_for_the_rounding(name: str, precision: str) -> None:
    exact = logits(in_precision(ending_network(ARCHITECTURES[name]), "float32", CPU))
    rounded = logits(in_precision(ending_network(ARCHITECTURES[name]), precision, CPU))
    difference = float((rounded - exact).abs().max() / exact.std())
    assert difference < ROUNDED[precision]
    assert precision == "float32" or difference > 0
