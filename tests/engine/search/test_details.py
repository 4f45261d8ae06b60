"""Scores of pieces and attention to the source: as PyTorch computes them, for every network and search."""

from math import isfinite
from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.model_file import Architecture, open_model
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.vocabulary import Vocabulary
from tests.engine import test_fully_quantized, test_lstm
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import GROUPINGS, architecture, plain, random_network, write
from tests.engine.search.forced_search import attention, search
from tests.engine.test_shortlist import random_shortlist

NETWORKS: dict[str, Architecture] = {
    "Transformer": architecture(),
    "Transformer, pre-norm, layers of many sizes": architecture(
        norm="pre", decoder_heads=(4, 2), decoder_cross_heads=(1, 3), decoder_feed_forward=(7, 33)
    ),
    "SSRU, tied layers": architecture(decoder_autoregression="ssru", tied_decoder_layers=True, decoder_layers=3),
    "LSTM": test_lstm.lstm(),
}


def details(model: _native.Model, sources: list[list[int]], **changes: object) -> list[list["_native.Details"]]:
    options = search_options(token_scores=True, attention=True, **changes)
    return model.submit(sources, options).details()


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("listed", [False, True], ids=["whole vocabulary", "shortlist"])
def test_they_are_those_of_pytorch(
    tmp_path: Path, vocabulary: Vocabulary, network: str, beam_size: int, listed: bool
) -> None:
    path = tmp_path / "model.pocketmt"
    reference = write(path, random_network(NETWORKS[network]), vocabulary, plain)
    shortlist = random_shortlist()
    if listed:
        add_shortlist(path, shortlist, path)
    with open_model(path) as file:
        model = native_model(file)
    sources = sentences(4, longest=9)
    found = details(model, sources, beam_size=beam_size, n_best=beam_size, max_length=8)
    plainly = model.translate(sources, search_options(beam_size=beam_size, n_best=beam_size, max_length=8))
    assert [[(ids, score) for ids, score, _, _ in each] for each in found] == plainly
    for source, hypotheses in zip(sources, found, strict=True):
        allowed = shortlist.pieces(source) if listed else None
        expected = search(reference, source, beam=beam_size, limit=8, allowed=allowed)
        for (ids, _, token_scores, rows), best in zip(hypotheses, expected, strict=True):
            assert ids == best.ids
            np.testing.assert_allclose(token_scores, best.token_scores, atol=1e-3)
            np.testing.assert_allclose(
                np.reshape(rows, (len(ids), len(source) + 1)), attention(reference, source, ids), atol=1e-4
            )


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_score_leaves_the_prefix_out(load: Loader, beam_size: int) -> None:
    model, reference = load()
    sources, prefix = sentences(4, longest=9), [25, 30]
    options = search_options(token_scores=True, beam_size=beam_size, n_best=beam_size, max_length=9)
    for source, hypotheses in zip(sources, model.submit(sources, options, [prefix] * 4).details(), strict=True):
        expected = search(reference, source, beam=beam_size, prefix=prefix, limit=9)
        for (ids, score, token_scores, _), best in zip(hypotheses, expected, strict=True):
            assert ids == best.ids
            np.testing.assert_allclose(token_scores, best.token_scores, atol=1e-3)
            np.testing.assert_allclose(score, sum(best.token_scores[2:]) / len(best.token_scores), atol=1e-3)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_quantized_networks(load: Loader, grouping: str) -> None:
    model, reference = load(architecture(norm="pre"), GROUPINGS[grouping])
    for source, [(ids, _, _, rows)] in zip(sentences(6), details(model, sentences(6), max_length=12), strict=True):
        errors = np.abs(np.reshape(rows, (len(ids), -1)) - attention(reference, source, ids))
        assert np.median(errors) < 1e-4  # an activation may be rounded to the neighbouring code
        assert errors.max() < 0.1


@pytest.mark.parametrize("settings", ["no buckets", "strategy"])
def test_keys_that_are_codes(tmp_path: Path, vocabulary: Vocabulary, settings: str) -> None:
    path = tmp_path / "model.pocketmt"
    reference = test_fully_quantized.write(path, vocabulary, test_fully_quantized.EXACT[settings])
    with open_model(path) as file:
        model = native_model(file)
    for source, [(ids, _, _, rows)] in zip(sentences(6), details(model, sentences(6), max_length=12), strict=True):
        np.testing.assert_allclose(np.sum(rows, axis=1), 1.0, atol=1e-5)
        expected = attention(reference, source, ids)
        expected /= expected.sum(axis=1, keepdims=True)  # of rounded weights
        errors = np.abs(np.reshape(rows, (len(ids), -1)) - expected)
        assert np.median(errors) < 0.01
        assert errors.max() < 0.1


@pytest.mark.parametrize("network", ["Transformer", "SSRU, tied layers", "LSTM"])
def test_they_do_not_depend_on_neighbours_or_threads(load: Loader, network: str) -> None:
    sources = [*sentences(12), [], *sentences(2, seed=5, longest=90)]
    model, _ = load(NETWORKS[network])
    together = details(model, sources, beam_size=2, n_best=2)
    assert [details(model, [source], beam_size=2, n_best=2)[0] for source in sources] == together
    assert details(model, sources[::-1], beam_size=2, n_best=2)[::-1] == together
    assert details(model, sources, beam_size=2, n_best=2, batch_size=3) == together
    assert details(load(NETWORKS[network], workers=3)[0], sources, beam_size=2, n_best=2) == together


@pytest.mark.parametrize("length_penalty", [0.6, -10.0, 10.0])
def test_scores_are_sums_of_those_of_the_pieces(load: Loader, length_penalty: float) -> None:
    model, _ = load()
    for hypotheses in details(model, sentences(8), n_best=4, length_penalty=length_penalty):
        for ids, score, token_scores, rows in hypotheses:
            assert len(token_scores) - len(ids) in (0, 1)  # eos, unless the limit ended it
            assert score == pytest.approx(sum(token_scores) / len(token_scores) ** length_penalty, abs=0.0)
            assert isfinite(score) and score < 0
            assert len(rows) == len(ids)


def test_what_is_not_asked_for_is_empty(load: Loader) -> None:
    model, _ = load()
    for [(_, _, token_scores, rows)] in model.submit(sentences(3), search_options()).details():
        assert (token_scores, rows) == ([], [])
