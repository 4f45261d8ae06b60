"""The batched decoder finds the translations of the reference search, whatever the batch."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from pocketmt.decoding.best_pieces import best_pieces
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings, plain_requests
from pocketmt.errors import EngineError
from pocketmt.model_file import Architecture
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import beam_search, greedy_search
from tests.engine.conftest import sentences
from tests.engine.reference import architecture, random_network
from tests.engine.test_lstm import SHAPES as LSTM_SHAPES
from tests.engine.test_lstm import lstm
from tests.engine.test_options_parity import COMBINATIONS
from tests.engine.test_parity import SHAPES

LIMIT = 14


def ending_network(shape: Architecture, seed: int = 0) -> TranslationNetwork:
    """A random network whose translations end early now and then."""
    network = random_network(shape, seed)
    with torch.no_grad():
        network.output_weight[shape.eos_id].mul_(3.0)
    return network


def requests(sources: Sequence[Sequence[int]], limit: int = LIMIT, **fields: Any) -> list[Request]:
    return [Request(source, limit, **fields) for source in sources]


def assert_equals_reference(
    networks: Sequence[TranslationNetwork], sources: Sequence[Sequence[int]], beam: int, decoder: Decoder
) -> None:
    found = decoder.translate(requests(sources), SearchSettings(beam))
    expected = beam_search(networks, sources, beam, maximum_length=lambda _: LIMIT)
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.ids for each in ours] == [each.ids for each in theirs]
        assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-4)
        for each in ours:
            assert sum(each.token_scores) / (len(each.ids) + (len(each.ids) < LIMIT)) == pytest.approx(
                each.score, abs=1e-4
            )


def assert_equals_greedy(network: TranslationNetwork, sources: Sequence[Sequence[int]]) -> None:
    found = Decoder([network]).translate(requests(sources), SearchSettings(1, scores=False))
    assert [list(best[0].ids) for best in found] == greedy_search(network, sources, lambda _: LIMIT)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_transformers(shape: dict[str, object]) -> None:
    network, sources = ending_network(architecture(**shape)), sentences(6, longest=12)
    assert_equals_greedy(network, sources)
    assert_equals_reference([network], sources, 3, Decoder([network], 50))


@pytest.mark.parametrize("shape", LSTM_SHAPES.values(), ids=LSTM_SHAPES.keys())
def test_lstms(shape: dict[str, int]) -> None:
    network, sources = ending_network(lstm(**shape)), sentences(6, longest=12)
    assert_equals_greedy(network, sources)
    assert_equals_reference([network], sources, 3, Decoder([network], 50))


@pytest.mark.parametrize("index", range(1, len(COMBINATIONS), 3))
def test_combinations_of_options(index: int) -> None:
    network, sources = ending_network(architecture(**COMBINATIONS[index])), sentences(5)
    assert_equals_reference([network], sources, 2, Decoder([network]))


def test_ensembles_of_several_architectures() -> None:
    networks = [ending_network(architecture(norm="pre")), ending_network(lstm(), seed=1)]
    networks.append(ending_network(architecture(decoder_autoregression="ssru", model_dimension=40), seed=2))
    sources = sentences(8)
    for beam in (1, 4):
        assert_equals_reference(networks, sources, beam, Decoder(networks))


@pytest.mark.parametrize("beam", [1, 3])
def test_of_equal_pieces_the_first_comes_first(beam: int) -> None:
    network, sources = ending_network(architecture()), sentences(8, longest=12)
    with torch.no_grad():
        network.output_weight[5::3] = network.output_weight[4:-1:3][: len(network.output_weight[5::3])]
    assert_equals_greedy(network, sources)
    assert_equals_reference([network], sources, beam, Decoder([network]))


@pytest.mark.parametrize(("size", "count"), [(20, 5), (100, 4), (500, 8), (500, 1)])
def test_of_equal_values_at_the_end_of_the_best_the_first_pieces_are_taken(size: int, count: int) -> None:
    values = torch.zeros(2, size)
    values[1, size - 2] = 1
    best, pieces = best_pieces(values, count, logits=False)
    assert pieces.tolist() == [[*range(count)], [size - 2, *range(count - 1)]]
    assert best.tolist() == [[0.0] * count, [1.0, *[0.0] * (count - 1)]]


@pytest.mark.parametrize("beam", [1, 4])
def test_a_translation_depends_on_its_sentence_alone(beam: int) -> None:
    network, sources = ending_network(architecture()), sentences(24)
    settings, whole = SearchSettings(beam), requests(sources)
    expected = [[each.ids for each in best] for best in Decoder([network]).translate(whole, settings)]
    order = random.Random(1).sample(range(len(sources)), len(sources))
    for tokens in (1, 120):
        found = Decoder([network], tokens).translate([whole[index] for index in order], settings)
        assert [[each.ids for each in best] for best in found] == [expected[index] for index in order]


def test_length_penalty_and_least_length() -> None:
    network, sources = ending_network(architecture()), sentences(6)
    found = Decoder([network]).translate(requests(sources), SearchSettings(4, length_penalty=0.3))
    expected = beam_search(network, sources, 4, 0.3, maximum_length=lambda _: LIMIT)
    assert [[each.ids for each in best] for best in found] == [[each.ids for each in best] for best in expected]
    assert min(len(each.ids) for best in found for each in best) < 4
    longer = Decoder([network]).translate(requests(sources), SearchSettings(4, min_length=6))
    assert min(len(each.ids) for best in longer for each in best) == 5  # Eos counts.


def test_shortlists_of_each_sentence() -> None:
    network, sources = ending_network(architecture()), sentences(6)
    draw = random.Random(2)
    allowed = [sorted({2, *draw.sample(range(4, 120), 30)}) for _ in sources]
    given = [Request(source, LIMIT, allowed=pieces) for source, pieces in zip(sources, allowed, strict=True)]
    for beam in (1, 3):
        found = Decoder([network]).translate(given, SearchSettings(beam))
        expected = beam_search(network, sources, beam, maximum_length=lambda _: LIMIT, allowed=allowed)
        assert [[each.ids for each in best] for best in found] == [[each.ids for each in best] for best in expected]
    some = [given[0], *requests(sources[1:])]
    mixed = Decoder([network]).translate(some, SearchSettings(1))
    assert mixed[0][0].ids == Decoder([network]).translate(given, SearchSettings(1))[0][0].ids
    assert [list(best[0].ids) for best in mixed[1:]] == greedy_search(network, sources[1:], lambda _: LIMIT)


@pytest.mark.usefixtures("like_a_gpu")
@pytest.mark.parametrize("beam", [1, 3])
def test_several_steps_between_looks(beam: int) -> None:
    network, sources = ending_network(architecture(decoder_layers=1)), sentences(30, longest=40)
    decoder = Decoder([network])
    decoder.on_gpu = True
    assert_equals_reference([network], sources, beam, decoder)
    assert_equals_reference([network], sources[:7], beam, decoder)  # Kept places are used again.


def test_a_long_wait_can_be_stopped() -> None:
    network, sources = ending_network(architecture()), sentences(5)
    looks = iter(range(100))
    found = Decoder([network]).translate(plain_requests(sources), SearchSettings(1), lambda: next(looks) > 3)
    assert any(not best for best in found)


def test_numbers_too_large_for_the_precision_are_an_error() -> None:
    network = ending_network(architecture())
    with torch.no_grad():
        network.output_weight.fill_(torch.inf)
    with pytest.raises(EngineError, match="no translation of a finite probability"):
        Decoder([network]).translate(plain_requests([[5, 6]]), SearchSettings(2))


def test_an_empty_source_stays_empty() -> None:
    network = ending_network(architecture())
    assert Decoder([network]).best([[], [5, 6], []], 2)[::2] == [[], []]
    assert Decoder([network]).best([], 2) == []
