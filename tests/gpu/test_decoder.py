"""On a GPU, decoding by captured steps and compiled kernels finds the translations of the reference search."""

import copy
import threading
from collections.abc import Sequence

import pytest
import torch

from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.models.network import TranslationNetwork
from tests.decoding.test_decoder import assert_equals_reference, ending_network
from tests.engine.conftest import sentences
from tests.engine.reference import architecture
from tests.engine.test_lstm import SHAPES as LSTM_SHAPES
from tests.engine.test_lstm import lstm
from tests.engine.test_options_parity import COMBINATIONS
from tests.engine.test_parity import SHAPES

GPU = torch.device("cuda", 0)
LONG = 70  # More than two numbers of positions, 32 and 64.


def on_gpu(*networks: TranslationNetwork, device: torch.device = GPU) -> Decoder:
    """Return a decoder of copies of networks."""
    return Decoder([copy.deepcopy(network).to(device) for network in networks])


def pieces(decoder: Decoder, sources: Sequence[Sequence[int]], settings: SearchSettings) -> list[list[list[int]]]:
    """Return the ids of all hypotheses of each source, of at most `LONG` + 20 pieces."""
    found = decoder.translate([Request(source, LONG + 20) for source in sources], settings)
    return [[[*each.ids] for each in hypotheses] for hypotheses in found]


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_transformers(shape: dict[str, object], beam: int) -> None:
    network = ending_network(architecture(**shape))
    assert_equals_reference([network], sentences(40, longest=12), beam, on_gpu(network))


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("shape", LSTM_SHAPES.values(), ids=LSTM_SHAPES.keys())
def test_lstms(shape: dict[str, int], beam: int) -> None:
    network = ending_network(lstm(**shape))
    assert_equals_reference([network], sentences(40, longest=12), beam, on_gpu(network))


@pytest.mark.parametrize("index", range(0, len(COMBINATIONS), 3))
def test_combinations_of_options(index: int) -> None:
    network = ending_network(architecture(**COMBINATIONS[index]))
    assert_equals_reference([network], sentences(12), 2, on_gpu(network))


def test_an_ensemble() -> None:
    networks = [ending_network(architecture(norm="pre")), ending_network(lstm(), seed=1)]
    networks.append(ending_network(architecture(decoder_autoregression="ssru", model_dimension=40), seed=2))
    assert_equals_reference(networks, sentences(20), 3, on_gpu(*networks))


@pytest.mark.parametrize("beam", [1, 3])
def test_places_that_are_used_again(beam: int) -> None:
    network = ending_network(architecture(decoder_layers=1))
    decoder, settings = on_gpu(network), SearchSettings(beam, min_length=LONG + 1)
    sources = sentences(30, longest=20)
    for given in (sources, sources[:17], sources, sources[3:24]):
        expected = pieces(Decoder([network]), given, settings)
        assert max(len(best[0]) for best in expected) >= LONG
        assert pieces(decoder, given, settings) == expected


@pytest.mark.parametrize("beam", [1, 3])
def test_places_that_are_used_again_after_an_interrupt(beam: int) -> None:
    network = ending_network(architecture(decoder_layers=1))
    decoder, settings = on_gpu(network), SearchSettings(beam, min_length=LONG + 1)
    sources, looks = sentences(30, longest=20), iter(range(1000))
    requests = [Request(source, LONG + 20) for source in sources]
    # It is asked once more at the end, so that it keeps the places with the sentences that were not done.
    assert not any(decoder.translate(requests, settings, lambda: next(looks) == 6))
    assert pieces(decoder, sources, settings) == pieces(Decoder([network]), sources, settings)


@pytest.mark.parametrize("beam", [1, 3])
def test_memory_that_runs_out(beam: int) -> None:
    """The decoder asks the device for the free memory, and the process may have only a part of it.

    Sums of smaller batches may have another order, so that hypotheses of nearly equal scores change places.
    """
    network = ending_network(architecture(model_dimension=256, attention_dimension=256, feed_forward_dimension=1024))
    settings = SearchSettings(beam, min_length=LONG + 1)
    requests = [Request(source, LONG + 20) for source in sentences(4000, longest=20)]
    expected = on_gpu(network).translate(requests, settings)
    decoder = on_gpu(network)
    torch.cuda.empty_cache()
    limit = torch.cuda.memory_reserved(GPU) + (64 << 20)
    torch.cuda.set_per_process_memory_fraction(limit / torch.cuda.get_device_properties(GPU).total_memory, GPU)
    whole = decoder.batch_tokens
    try:
        found = decoder.translate(requests, settings)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, GPU)
    assert decoder.batch_tokens < whole
    scores = [[best[0].score for best in each] for each in (found, expected)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)
    clear = [len(best) == 1 or best[0].score - best[1].score > 1e-3 for best in expected]
    assert sum(clear) > len(clear) // 2
    for ours, theirs, is_clear in zip(found, expected, clear, strict=True):
        assert not is_clear or ours[0].ids == theirs[0].ids


def test_two_models_in_two_threads() -> None:
    networks = [ending_network(architecture(decoder_layers=layers), seed=layers) for layers in (1, 2)]
    decoders = [on_gpu(network) for network in networks]
    settings, sources = SearchSettings(3, min_length=LONG + 1), sentences(30, longest=20)
    expected = [pieces(Decoder([network]), sources, settings) for network in networks]
    found: list[list[list[list[list[int]]]]] = [[], []]

    def translate(number: int) -> None:
        for count in (30, 11, 30, 5):
            found[number].append(pieces(decoders[number], sources[:count], settings))

    threads = [threading.Thread(target=translate, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == [theirs, theirs[:11], theirs, theirs[:5]]


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there is no second GPU")
def test_the_second_gpu() -> None:
    network = ending_network(architecture())
    decoder = on_gpu(network, device=torch.device("cuda", 1))
    assert_equals_reference([network], sentences(40, longest=12), 3, decoder)
