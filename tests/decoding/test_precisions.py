"""Every architecture in every precision: the decoder for GPUs finds the translations of the reference search.

Both run the same network, and on the processor its sums do not depend on the shapes of a batch, so all lines are equal.
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
# Largest difference of a logit from that of the float32 network, in standard deviations of its logits.
ROUNDED: Final = {
    "float32": 1e-5,
    "float16": 0.03,
    "bfloat16": 0.2,
    "int8_float32": 0.4,
    "int8_float16": 0.4,
    "int8_bfloat16": 0.5,
}


@pytest.mark.parametrize("precision", ROUNDED)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_translations_equal_the_reference(name: str, precision: str) -> None:
    network = in_precision(ending_network(ARCHITECTURES[name]), precision, CPU)
    sources = sentences(LINES, longest=12)
    found = Decoder([network], 60).translate(requests(sources), SearchSettings(1, scores=False))
    assert [list(ours[0].ids) for ours in found] == greedy_search(network, sources, lambda _: LIMIT)
    beams = Decoder([network], 60).translate(requests(sources), SearchSettings(3))
    best = beam_search(network, sources, 3, maximum_length=lambda _: LIMIT)
    assert [ours[0].ids for ours in beams] == [theirs[0].ids for theirs in best]
    for ours, theirs in zip(beams, best, strict=True):
        assert ours[0].score == pytest.approx(theirs[0].score, abs=1e-4)


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
