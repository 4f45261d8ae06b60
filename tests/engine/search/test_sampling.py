"""Sampling: the distribution of samples, and what they depend on."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from pocketmt.engine import Translator
from pocketmt.engine.loading import native_model
from pocketmt.errors import EngineError
from pocketmt.model_file import open_model
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import architecture, random_network, reference_logits, write

SAMPLES = 200
SEEDS = 40


def probabilities(logits: np.ndarray, temperature: float = 1.0, top_k: int = 120, top_p: float = 1.0) -> np.ndarray:
    """Return the probabilities from which a piece is drawn."""
    scaled = logits.astype(np.float64) / temperature
    scaled[[0, 1, 3]] = -np.inf
    order = np.argsort(-scaled, kind="stable")
    scaled[order[top_k:]] = -np.inf
    chances = np.exp(scaled - np.logaddexp.reduce(scaled))
    kept = int(np.searchsorted(np.cumsum(chances[order]), top_p * (1 - 1e-9))) + 1
    chances[order[kept:]] = 0.0
    total: np.ndarray = chances / chances.sum()
    return total


@pytest.mark.parametrize(
    "settings",
    [{}, {"temperature": 2.5}, {"top_k": 4}, {"top_p": 0.7}, {"temperature": 1.7, "top_k": 20, "top_p": 0.8}],
)
def test_pieces_are_drawn_with_their_probabilities(load: Loader, settings: dict[str, float]) -> None:
    model, reference = load()
    [source] = sentences(1, longest=9)
    expected = probabilities(reference_logits(reference, source, [])[0], **settings)  # type: ignore[arg-type]
    drawn: Counter[int] = Counter()
    for seed in range(SEEDS):
        sampling = (settings.get("temperature", 1.0), settings.get("top_k", 0), settings.get("top_p", 1.0), seed)
        options = search_options(beam_size=SAMPLES // 2, n_best=SAMPLES // 2, max_length=1, sampling=sampling)
        [found] = model.translate([source], options)
        drawn.update(ids[0] if ids else 2 for ids, _ in found)
    total = sum(drawn.values())
    assert total == SEEDS * SAMPLES // 2
    for piece, chance in enumerate(expected):
        # Five standard deviations, and a float's error at the edge of top_p.
        assert abs(drawn[piece] / total - chance) < 5 * np.sqrt(chance * (1 - chance) / total) + 1e-4


def test_later_pieces_follow_their_own_samples(load: Loader) -> None:
    model, reference = load()
    [source] = sentences(1, longest=9)
    options = search_options(beam_size=50, n_best=50, max_length=6, token_scores=True, sampling=(1.0, 0, 1.0, 3))
    [found] = model.submit([source], options).details()
    assert len({tuple(ids) for ids, *_ in found}) > 10
    for ids, score, token_scores, _ in found:
        logits = reference_logits(reference, source, ids).astype(np.float64)
        logits[:, [0, 1, 3]] = -np.inf
        chosen = [*ids, 2][: len(token_scores)]
        expected = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))[range(len(chosen)), chosen]
        np.testing.assert_allclose(token_scores, expected, atol=1e-3)
        assert score == pytest.approx(np.mean(token_scores))


def test_samples_depend_on_the_seed_and_the_sentence_alone(load: Loader) -> None:
    sources = [*sentences(40), []]
    model, _ = load()

    def options(seed: int, samples: int = 3, **changes: object) -> object:
        return search_options(beam_size=samples, n_best=samples, sampling=(1.3, 50, 0.9, seed), **changes)

    together = model.translate(sources, options(1))  # type: ignore[arg-type]
    assert [model.translate([source], options(1))[0] for source in sources] == together  # type: ignore[arg-type]
    assert model.translate(sources[::-1], options(1))[::-1] == together  # type: ignore[arg-type]
    assert load(workers=3)[0].translate(sources, options(1)) == together  # type: ignore[arg-type]
    assert model.translate(sources, options(1, batch_size=2)) == together  # type: ignore[arg-type]
    assert model.translate(sources, options(2)) != together  # type: ignore[arg-type]
    more = model.translate(sources, options(1, samples=5))  # type: ignore[arg-type]
    for few, many in zip(together, more, strict=True):
        assert all(each in many for each in few)  # the first three samples are the same


def test_one_candidate_is_greedy_search(load: Loader) -> None:
    model, _ = load()
    greedy = model.translate(sentences(20), search_options(beam_size=1))
    for sampling in ((1.0, 1, 1.0, 7), (1.0, 0, 1e-9, 7), (1e-6, 0, 1.0, 7)):
        assert model.translate(sentences(20), search_options(beam_size=1, sampling=sampling)) == greedy


@pytest.mark.parametrize("limits", [(0, 1.0), (0, 0.9), (4, 1.0)])  # top_k, top_p
def test_one_logit_that_is_not_finite_is_an_error(
    tmp_path: Path, vocabulary: Vocabulary, limits: tuple[int, float]
) -> None:
    network = random_network(architecture())
    with torch.no_grad():
        network.embedding.weight[50] = -3e38
    write(tmp_path / "model.pocketmt", network, vocabulary)
    with open_model(tmp_path / "model.pocketmt") as file:
        model = native_model(file)
    logits = np.frombuffer(model.logits([5, 6, 7], []), np.float32)
    assert np.flatnonzero(~np.isfinite(logits)).tolist() == [50] and logits[50] == np.inf
    for scores in (False, True):
        with pytest.raises(EngineError, match="not finite"):
            model.translate([[5, 6, 7]], search_options(beam_size=1, scores=scores, sampling=(1.0, *limits, 1)))


def test_samples_of_text(model_path: Path) -> None:
    translator = Translator(model_path)
    lines = ["the man rides a bike.", "two dogs"]
    samples = translator.translate_n_best(lines, 3, sampling=True, seed=1, max_length=12)
    assert [len(each) for each in samples] == [3, 3]
    assert [each.score for each in samples[0]] == sorted((each.score for each in samples[0]), reverse=True)
    assert translator.translate_n_best(lines, 3, sampling=True, seed=1, max_length=12) == samples
    assert translator.translate(lines, sampling=True, seed=2) != translator.translate(lines, sampling=True, seed=3)
