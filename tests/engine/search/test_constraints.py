"""Constrained search: prefixes, suppressed pieces and texts, penalties of repetitions, and bounds of batches."""

from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import Translator, _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import EngineError
from pocketmt.model_file import open_model
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import architecture, plain, random_network, write
from tests.engine.search.forced_search import Rule, no_repeats, penalty, repeated, search, suppressed
from tests.engine.test_shortlist import random_shortlist

SEQUENCES = [[20], [21, 22], [30, 31, 32], *[[piece] for piece in range(40, 80)], [90, 90]]
CONSTRAINTS: dict[str, tuple[dict[str, object], list[Rule]]] = {
    "repetition penalty": ({"repetition_penalty": 3.0}, [penalty(3.0)]),
    "reward of repetitions": ({"repetition_penalty": 0.5}, [penalty(0.5)]),
    "no piece twice": ({"no_repeat_ngram": 1}, [no_repeats(1)]),
    "no pair twice": ({"no_repeat_ngram": 2}, [no_repeats(2)]),
    "suppressed sequences": ({"suppressed_sequences": SEQUENCES}, [suppressed(SEQUENCES)]),
    "several": (
        {"repetition_penalty": 1.3, "no_repeat_ngram": 2, "suppressed_sequences": SEQUENCES},
        [penalty(1.3), no_repeats(2), suppressed(SEQUENCES)],
    ),
}
LIMIT = 14


@pytest.mark.parametrize("prefix", [(), (25, 25, 25)], ids=["no prefix", "prefix"])
@pytest.mark.parametrize("listed", [False, True], ids=["whole vocabulary", "shortlist"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_plain_search_finds_the_same(
    tmp_path: Path, vocabulary: Vocabulary, name: str, listed: bool, prefix: tuple[int, ...]
) -> None:
    path = tmp_path / "model.pocketmt"
    reference = write(path, random_network(architecture(decoder_layers=1)), vocabulary, plain)
    shortlist = random_shortlist()
    if listed:
        add_shortlist(path, shortlist, path)
    with open_model(path) as file:
        model = native_model(file)
    changes, rules = CONSTRAINTS[name]
    sources = sentences(3, seed=2, longest=9)
    for beam_size in (1, 3):
        options = search_options(beam_size=beam_size, n_best=beam_size, max_length=LIMIT, **changes)
        found = model.submit(sources, options, [prefix] * len(sources)).result()
        for source, hypotheses in zip(sources, found, strict=True):
            allowed = sorted({*shortlist.pieces(source), *prefix}) if listed else None
            expected = search(
                reference, source, beam=beam_size, rules=rules, prefix=prefix, limit=LIMIT, allowed=allowed
            )
            assert [ids for ids, _ in hypotheses] == [best.ids for best in expected]
            np.testing.assert_allclose([score for _, score in hypotheses], [e.score for e in expected], atol=1e-3)
    unconstrained = model.submit(sources, search_options(beam_size=3, n_best=3, max_length=LIMIT), []).result()
    assert found != unconstrained


def test_greedy_search_without_scores_finds_the_same(load: Loader) -> None:
    model, _ = load()
    sources = sentences(6)
    for changes, _ in CONSTRAINTS.values():
        with_scores, without = (
            model.submit(sources, search_options(beam_size=1, scores=scores, **changes), [[25]] * 6).result()
            for scores in (True, False)
        )
        assert [[ids for ids, _ in each] for each in without] == [[ids for ids, _ in each] for each in with_scores]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_neighbours_order_batches_and_threads_do_not_matter(load: Loader, beam_size: int) -> None:
    sources = [*sentences(16), []]
    prefixes = [[], [9], [10, 11], [25] * 5] * 4 + [[7]]
    options = search_options(beam_size=beam_size, n_best=beam_size, **CONSTRAINTS["several"][0])
    model, _ = load()
    together = model.submit(sources, options, prefixes).result()
    by_themselves = [model.submit([s], options, [p]).result()[0] for s, p in zip(sources, prefixes, strict=True)]
    assert by_themselves == together
    assert model.submit(sources[::-1], options, prefixes[::-1]).result()[::-1] == together
    assert load(workers=3)[0].submit(sources, options, prefixes).result() == together
    for ours, prefix in zip(together, prefixes, strict=True):
        assert all(ids[: len(prefix)] == prefix for ids, _ in ours)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batch_size", [1, 2, 7, 10**6])
def test_the_size_of_batches_does_not_matter(load: Loader, workers: int, batch_size: int) -> None:
    sources = sentences(20)
    expected = load()[0].translate(sources, search_options())
    assert load(workers=workers)[0].translate(sources, search_options(batch_size=batch_size)) == expected


def test_a_hypothesis_that_nothing_may_follow_ends(load: Loader) -> None:
    model, _ = load()
    everything = [[piece] for piece in range(4, 120)]
    for beam_size in (1, 3):
        options = search_options(beam_size=beam_size, min_length=5, suppressed_sequences=everything)
        for [(ids, score)] in model.translate(sentences(4), options):
            assert (ids, score) == ([], 0.0)
    options = search_options(beam_size=1, min_length=200, max_length=300, no_repeat_ngram=1)
    for [(ids, _)] in model.translate(sentences(4), options):
        assert sorted(ids) == list(range(4, 120))


@pytest.mark.parametrize("beam_size", [4, 8])
def test_hypotheses_that_nothing_may_follow_come_after_those_of_the_least_length(load: Loader, beam_size: int) -> None:
    model, _ = load()
    # Nothing may follow a third of the pieces.
    ends = [[first, piece] for first in range(4, 120, 3) for piece in range(4, 120)]
    options = search_options(beam_size=beam_size, n_best=beam_size, min_length=6, suppressed_sequences=ends)
    kinds = set()
    for found in model.translate(sentences(30), options):
        short = [len(ids) + 1 < 6 for ids, _ in found]
        assert short == sorted(short)
        for kind in (False, True):
            scores = [score for each, (_, score) in zip(short, found, strict=True) if each == kind]
            assert scores == sorted(scores, reverse=True)
        kinds |= {*short}
    assert kinds == {False, True}


@pytest.mark.parametrize("least", range(5))
def test_the_least_length_counts_eos(load: Loader, least: int) -> None:
    """Two forbid only the empty translation."""
    model, _ = load()
    sources, eos, piece = sentences(12), 2, 20
    others = [[other] for other in range(4, 120) if other != piece]
    options = search_options(beam_size=1, min_length=least, max_length=6, suppressed_sequences=others)
    for source, [(ids, _)] in zip(sources, model.translate(sources, options), strict=True):
        logits = np.frombuffer(model.logits(source, [piece] * 6), np.float32).reshape(7, 120)
        ends = [length for length in range(6) if logits[length, eos] > logits[length, piece] and length + 1 >= least]
        assert ids == [piece] * min([*ends, 6])


@pytest.mark.parametrize("times", [2, 3, 5])
def test_a_translation_ends_where_it_repeats_itself(tmp_path: Path, vocabulary: Vocabulary, times: int) -> None:
    path = tmp_path / "model.pocketmt"
    reference = write(path, random_network(architecture(decoder_layers=1)), vocabulary, plain)
    with open_model(path) as file:
        model = native_model(file)
    sources, prefixes = sentences(3, seed=2, longest=9), [[], [25] * 6, [9, 10]]
    ended = 0
    for beam_size in (1, 3):
        options = search_options(beam_size=beam_size, n_best=beam_size, max_length=24, repeat_limit=times)
        found = model.submit(sources, options, prefixes).result()
        for source, prefix, hypotheses in zip(sources, prefixes, found, strict=True):
            expected = search(reference, source, beam=beam_size, prefix=prefix, limit=24, repeats=times)
            assert [ids for ids, _ in hypotheses] == [best.ids for best in expected]
            np.testing.assert_allclose([score for _, score in hypotheses], [e.score for e in expected], atol=1e-3)
            ended += sum(repeated(ids, times) for ids, _ in hypotheses)
    assert ended > 0


def test_a_loop_ends_only_when_all_terms_are_there(load: Loader) -> None:
    model, _ = load()
    sources = sentences(8)
    options = search_options(beam_size=1, max_length=40, repeat_limit=2)
    term = [[([50, 51, 52], True)]] * 8
    for [(ids, _)] in model.submit(sources, options, [], term).result():
        assert any(ids[start : start + 3] == [50, 51, 52] for start in range(len(ids)))


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("term", [[50, 50], [50, 51, 50, 51], [50]])
def test_terms_that_repeat_themselves_end_no_translation(load: Loader, beam_size: int, term: list[int]) -> None:
    model, _ = load()
    sources = sentences(12)
    options = search_options(beam_size=beam_size, max_length=40, repeat_limit=2, token_scores=True)
    going_on = 0
    for [(ids, _, scores, _)] in model.submit(sources, options, [], [[(term, False)]] * 12).details():
        end = next(end for end in range(len(term), len(ids) + 1) if ids[end - len(term) : end] == term)
        ends_in_eos = len(scores) > len(ids)
        assert ends_in_eos or repeated(ids[end:], 2) or len(ids) == 40
        going_on += end < len(ids)
    assert going_on > 0


HOSTILE: dict[str, dict[str, object]] = {
    "length_penalty must": {"length_penalty": 10.001},
    "length_penalty must be": {"length_penalty": float("nan")},
    "length_penalty must be from": {"length_penalty": -400.0},
    "repetition_penalty must": {"repetition_penalty": 0.0},
    "repetition_penalty must be": {"repetition_penalty": float("nan")},
    "repetition_penalty must be from": {"repetition_penalty": 101.0},
    "repeat_limit must be": {"repeat_limit": 1},
    "a suppressed sequence is empty": {"suppressed_sequences": [[5], []]},
    "the id 2, it must": {"suppressed_sequences": [[5, 2]]},
    "the id 120, it must": {"suppressed_sequences": [[120]]},
    "temperature": {"sampling": (0.0, 0, 1.0, 0)},
    "temperature must": {"sampling": (float("inf"), 0, 1.0, 0)},
    "top_p": {"sampling": (1.0, 0, 0.0, 0)},
    "top_p must": {"sampling": (1.0, 0, float("nan"), 0)},
}


@pytest.mark.parametrize("message", HOSTILE)
def test_values_out_of_range(load: Loader, message: str) -> None:
    model, _ = load()
    with pytest.raises(EngineError, match=message):
        model.submit([[5]], search_options(**HOSTILE[message]))


@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        ([[5]], "1 prefixes of 2 sources"),
        ([[5], [3]], "special id 3"),
        ([[5], [120]], "token id 120"),
        ([[5], [9] * 8], "max_length is 8"),
    ],
)
def test_wrong_prefixes(load: Loader, prefixes: list[list[int]], message: str) -> None:
    model, _ = load()
    with pytest.raises(EngineError, match=message):
        model.submit([[5], [6]], search_options(max_length=8), prefixes)


def test_extreme_values_are_no_danger(load: Loader) -> None:
    model, _ = load()
    for changes in (
        {"repetition_penalty": 100.0},
        {"repetition_penalty": 0.01},
        {"no_repeat_ngram": 2**62},
        {"repeat_limit": 2**62},
        {"sampling": (1e-300, 2**62, 1e-300, 2**64 - 1)},
        {"sampling": (1e300, 1, 1.0, 0)},
        {"batch_size": 2**62, "beam_size": 100},
    ):
        found = model.translate(sentences(3), search_options(max_length=20, **changes))
        assert len(found) == 3


TEXT = ["the man rides a red bike in the house.", "two dogs", ""]


def test_suppressed_texts_are_not_generated_in_any_division(model_path: Path) -> None:
    translator = Translator(model_path)
    plainly = translator.translate(TEXT, max_length=20)
    words = sorted({word for line in plainly for word in line.split()})
    suppressed = [*words[::2], " ".join(plainly[0].split()[:2])]
    for beam_size in (1, 4):
        for line in translator.translate(TEXT, beam_size=beam_size, max_length=20, suppressed_texts=suppressed):
            assert not [text for text in suppressed if f" {text}" in f" {line}"]


def test_tables_of_equal_texts_are_made_once(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = Translator(model_path)
    make, made = _native.SuppressedTexts, []

    def count(surfaces: list[bytes], texts: list[bytes], before: bytes) -> _native.SuppressedTexts:
        made.append(texts)
        return make(surfaces, texts, before)

    monkeypatch.setattr(_native, "SuppressedTexts", count)
    for texts in (["dog"], ["dog"], ("dog",), ["dog", "two"], ["dog", "two"]):
        translator.translate(TEXT, suppressed_texts=texts, max_length=5)
    assert made == [["▁dog".encode()], ["▁dog".encode(), "▁two".encode()]]


def test_automata_of_texts_that_repeat_themselves(model_path: Path) -> None:
    """Texts such as "aab", whose beginnings end others, are not found in what is generated."""
    pieces = [
        b"",
        b"",
        b"",
        b"",
        *(bytes(each, "ascii") for each in ("a", "b", "ab", "aa", "ba", "aab", "bab", "_", "_a")),
    ]
    pieces += [b""] * (120 - len(pieces))
    texts = [b"aab", b"_abab", b"aabaaab"]
    with open_model(model_path) as file:
        model = native_model(file)
    rest = [[piece] for piece in range(13, 120)]
    options = search_options(
        beam_size=8,
        n_best=8,
        min_length=30,
        max_length=30,
        suppressed_texts=_native.SuppressedTexts(pieces, texts, b"_"),
        suppressed_sequences=rest,
    )
    found = [
        b"_" + b"".join(pieces[piece] for piece in ids)
        for hypotheses in model.translate(sentences(8), options)
        for ids, _ in hypotheses
    ]
    assert len(set(found)) > 8
    assert not [text for text in found if any(each in text for each in texts)]


def test_texts_of_another_vocabulary_are_refused(load: Loader) -> None:
    with pytest.raises(EngineError, match="another vocabulary"):
        load()[0].submit([[5]], search_options(suppressed_texts=_native.SuppressedTexts([b"a"], [b"a"], b"")))
    with pytest.raises(EngineError, match="empty"):
        _native.SuppressedTexts([b"a"], [b""], b"")
