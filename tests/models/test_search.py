"""Reference search against exhaustive enumeration."""

import itertools
import math

import pytest
import torch

from pocketmt.models.search import (
    Hypothesis,
    beam_search,
    default_maximum_length,
    greedy_search,
)
from pocketmt.models.transformer import Transformer
from pocketmt.text.vocabulary import BOS, EOS
from tests.models.test_transformer import logits, small

SOURCES = [[5, 6, 7], [9], [11, 4, 8, 8, 10], [5, 6]]


def log_probabilities(model: Transformer, source: list[int], prefix: list[int]) -> list[float]:
    values = logits(model, [[*source, EOS]], [[BOS, *prefix]])[0, -1].clone()
    values[list(model.architecture.never_generated_ids)] = -math.inf
    scores: list[float] = torch.log_softmax(values, dim=-1).tolist()
    return scores


def mean_log_probabilities(models: list[Transformer], source: list[int], prefix: list[int]) -> list[float]:
    each = [log_probabilities(model, source, prefix) for model in models]
    return [sum(scores) / len(models) for scores in zip(*each, strict=True)]


def plain_greedy(model: Transformer, source: list[int], limit: int) -> list[int]:
    output: list[int] = []
    while len(output) < limit:
        scores = log_probabilities(model, source, output)
        best = max(range(len(scores)), key=lambda token: scores[token])
        if best == EOS:
            break
        output.append(best)
    return output


def plain_beam(models: list[Transformer], source: list[int], beam: int, penalty: float, limit: int) -> list[Hypothesis]:
    """The rules of the search for one sentence, without cache or batch."""
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    finished: list[Hypothesis] = []
    while live and len(finished) < beam:
        candidates = []
        for rank, (score, ids) in enumerate(live):
            for token, value in enumerate(mean_log_probabilities(models, source, ids)):
                candidates.append((-(score + value), rank, token))
        parents, live_before = sorted(candidates)[: beam - len(finished)], live
        live = []
        for negative, rank, token in parents:
            ids = live_before[rank][1]
            final = -negative / (len(ids) + 1) ** penalty
            if token == EOS:
                finished.append(Hypothesis(tuple(ids), final))
            elif len(ids) + 1 == limit:
                finished.append(Hypothesis((*ids, token), final))
            else:
                live.append((-negative, [*ids, token]))
    return sorted(finished, key=lambda hypothesis: -hypothesis.score)


def test_greedy_takes_the_most_probable_piece_each_time() -> None:
    model = small()
    expected = [plain_greedy(model, source, default_maximum_length(len(source))) for source in SOURCES]
    assert greedy_search(model, SOURCES) == expected


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("dimensions", [(16,), (16, 24, 8)], ids=["one model", "ensemble"])
def test_beam_follows_its_rules(beam: int, penalty: float, dimensions: tuple[int, ...]) -> None:
    models = [small("pre", model_dimension=dimension) for dimension in dimensions]
    model = models if len(models) > 1 else models[0]
    results = beam_search(model, SOURCES, beam, penalty, maximum_length=lambda length: 6)
    for source, found in zip(SOURCES, results, strict=True):
        expected = plain_beam(models, source, beam, penalty, limit=6)
        assert [hypothesis.ids for hypothesis in found] == [hypothesis.ids for hypothesis in expected]
        for left, right in zip(found, expected, strict=True):
            assert left.score == pytest.approx(right.score, abs=1e-4)


def test_a_wide_enough_beam_finds_the_best_translation() -> None:
    model = small(vocabulary_size=7)
    source, limit = [4, 5], 3
    words = [token for token in range(7) if token not in (*model.architecture.never_generated_ids, EOS)]
    sequences: dict[tuple[int, ...], float] = {}
    for length in range(limit + 1):
        for ids in itertools.product(words, repeat=length):
            score, generated = 0.0, [*ids] if length == limit else [*ids, EOS]
            for position, token in enumerate(generated):
                score += log_probabilities(model, source, generated[:position])[token]
            sequences[ids] = score
    best = max(sequences, key=lambda ids: sequences[ids])
    found = beam_search(model, [source], beam=len(sequences), length_penalty=0.0, maximum_length=lambda _: limit)[0]
    assert found[0].ids == best
    assert found[0].score == pytest.approx(sequences[best], abs=1e-4)
    assert len(found) == len(sequences)


def test_only_allowed_pieces_are_generated() -> None:
    """Each sentence has its own allowed pieces."""
    model = small()
    allowed = [[EOS, 4, 7, 9], [EOS, 5, 6, 8, 10], [0, 1, EOS, 3, 4, 11, 12], [EOS, 5, 6, 7]]

    def plain(source: list[int], pieces: list[int]) -> list[int]:
        output: list[int] = []
        while len(output) < 6:
            scores = log_probabilities(model, source, output)
            generated = [piece for piece in pieces if piece not in model.architecture.never_generated_ids]
            best = max(generated, key=lambda piece: scores[piece])
            if best == EOS:
                break
            output.append(best)
        return output

    expected = [plain(source, pieces) for source, pieces in zip(SOURCES, allowed, strict=True)]
    assert greedy_search(model, SOURCES, lambda length: 6, allowed) == expected
    alone = [
        greedy_search(model, [source], lambda length: 6, [pieces])[0]
        for source, pieces in zip(SOURCES, allowed, strict=True)
    ]
    assert alone == expected
    for beam in (1, 3):
        found = beam_search(model, SOURCES, beam, maximum_length=lambda length: 6, allowed=allowed)
        for hypotheses, pieces in zip(found, allowed, strict=True):
            assert len(hypotheses) == beam
            assert all(set(hypothesis.ids) <= set(pieces) for hypothesis in hypotheses)
            assert all(math.isfinite(hypothesis.score) for hypothesis in hypotheses)


def test_allowing_all_pieces_changes_nothing() -> None:
    model = small("pre")
    everything = [list(range(len(model.embedding.weight)))] * len(SOURCES)
    limited = lambda length: 6  # noqa: E731
    assert beam_search(model, SOURCES, 3, maximum_length=limited, allowed=everything) == beam_search(
        model, SOURCES, 3, maximum_length=limited
    )
