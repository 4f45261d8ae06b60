"""Scores of sentence splitters, and the texts that they are measured on."""

import tomllib

import pytest

from benchmarks.sentence_splitting.__main__ import score_rows
from benchmarks.sentence_splitting.checks import check_row
from benchmarks.sentence_splitting.joined import joined_rows
from benchmarks.sentence_splitting.scores import Counts
from benchmarks.sentence_splitting.splitters import SPLITTERS, Splitter
from benchmarks.sentence_splitting.texts import HARD_CASES, KnownText
from pocketmt.engine import Translator


def test_precision_and_recall() -> None:
    counts = Counts()
    counts.add(["a b.", "c", "d."], ["a b.", "c d.", "e."][:2])
    assert (counts.right, counts.found, counts.known) == (1, 2, 1)
    assert (counts.precision, counts.recall) == (0.5, 1.0)
    assert counts.f1 == pytest.approx(2 / 3)
    counts.add(["all of it"], ["all", "of", "it"])
    assert counts.recall == pytest.approx(1 / 3)


def test_white_space_does_not_matter() -> None:
    counts = Counts()
    counts.add(["a b. ", " c."], ["a  b.", "c."])
    assert counts.f1 == 1


def test_rows_of_splitters() -> None:
    known = KnownText("captions", "en", [["A man runs.", "Dr. Who sits."], ["Yes.", "No!"]])
    ours, plain = score_rows(known, [each for each in SPLITTERS if each.package is None])
    assert (ours["splitter"], ours["boundaries"], ours["precision"], ours["recall"]) == ("pocketmt", 2, 1, 1)
    assert plain["precision"] == pytest.approx(2 / 3)
    assert list(score_rows(known, [Splitter("other languages", None, lambda language: None)])) == []


def test_hard_cases_are_marked() -> None:
    cases = tomllib.loads(HARD_CASES.read_text(encoding="utf-8"))
    assert {"en", "de", "ja", "zh"} <= set(cases)
    assert all("|" in "".join(each["lines"]) for each in cases.values())


def test_suspicious_translations_are_counted() -> None:
    row = check_row("text", ("en", "de"), ["a b c d e f g h", "see {x}", "a"], ["a", "sieh", "b " * 20])
    assert [round(row[key]) for key in ("lines", "too_short", "too_long", "lost_parts")] == [3, 3333, 3333, 3333]


def test_no_words_are_lost_if_sentences_are_joined() -> None:
    people = ("A man", "A woman", "A boy", "A girl", "A dog")
    places = ("is standing in front of a house.", "sits on a bench in the park.", "runs on the beach!")
    sentences = [f"{person} {place}" for place in places for person in people]
    rows = list(joined_rows("captions-en-de", Translator("captions-en-de"), sentences))
    assert [row["text"] for row in rows][:2] == ["1 on a line", "2 on a line"]
    assert all(abs(row["share"] - 1) <= 0.03 for row in rows)
    unsplit = [row["share_unsplit"] for row in rows if row["share_unsplit"] is not None]
    assert min(unsplit) < 0.7
