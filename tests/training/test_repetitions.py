"""Copies of training pairs without final punctuation, in lower case and in capitals."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from pocketmt.training.configuration import Data
from pocketmt.training.data import load_corpus
from pocketmt.training.repetitions import repetitions, without_final_punctuation

DATA = Data("en", "de", "a.en", "b.en", "a.de", "b.de")
PAIR = ("Where is the house?", "Wo ist das Haus?")
NEARLY_ALL = 1 - 1e-9


def changed(**shares: Any) -> Data:
    return msgspec.structs.replace(DATA, **shares)


@pytest.mark.parametrize(
    ("shares", "copy"),
    [
        ({"repeat_without_punctuation": NEARLY_ALL}, ("Where is the house", "Wo ist das Haus")),
        ({"repeat_in_capitals": NEARLY_ALL}, ("WHERE IS THE HOUSE?", "WO IST DAS HAUS?")),
    ],
)
def test_a_copy_follows_its_pair(shares: dict[str, float], copy: tuple[str, str]) -> None:
    assert list(repetitions([PAIR, PAIR], changed(**shares))) == [PAIR, copy, PAIR, copy]


def test_half_of_the_copies_in_lower_case_lose_their_punctuation() -> None:
    found = list(repetitions([PAIR] * 1000, changed(repeat_in_lower_case=NEARLY_ALL)))
    assert len(found) == 2000
    assert set(found[::2]) == {PAIR}
    with_mark = ("where is the house?", "Wo ist das Haus?")
    assert set(found[1::2]) == {with_mark, ("where is the house", "Wo ist das Haus")}
    assert 400 < found.count(with_mark) < 600


def test_shares_are_those_of_the_configuration_and_each_draw_is_the_same() -> None:
    data = changed(repeat_without_punctuation=0.3, repeat_in_lower_case=0.2, repeat_in_capitals=0.1)
    pairs = [(f"See {number}.", f"Sieh {number}.") for number in range(2000)]
    found = list(repetitions(pairs, data))
    assert list(repetitions(iter(pairs), data)) == found
    assert [pair for pair in found if pair in set(pairs)] == pairs
    copies = [pair for pair in found if pair not in set(pairs)]
    capitals = sum(source.startswith("SEE") for source, _ in copies)
    lower = sum(source.startswith("see") for source, _ in copies)
    assert 150 < capitals < 250
    assert 330 < lower < 470
    assert 530 < len(copies) - capitals - lower < 670
    assert list(repetitions(pairs, DATA)) == pairs


@pytest.mark.parametrize("line", ["See %s, {Name}!", "See http://X.org/aB", ">>deu<< See it", "<B>See</B>"])
def test_placeholders_and_languages_keep_their_case(line: str) -> None:
    data = changed(repeat_in_lower_case=NEARLY_ALL, repeat_in_capitals=NEARLY_ALL)
    assert list(repetitions([(line, "Sieh")], data)) == [(line, "Sieh")]


@pytest.mark.parametrize(
    ("language", "line", "lower", "capitals"),
    [
        ("tr", "ISPARTA İzmir iyi", "ısparta izmir iyi", "ISPARTA İZMİR İYİ"),
        ("az-Latn", "Iğdır i", "ığdır i", "IĞDIR İ"),
        ("el", "Η Μαρία και ο Ιωάννης", "η μαρία και ο ιωάννης", "Η ΜΑΡΙΑ ΚΑΙ Ο ΙΩΑΝΝΗΣ"),
        ("de", "Straße in Köln", "straße in köln", "STRASSE IN KÖLN"),
    ],
)
def test_case_follows_the_language(language: str, line: str, lower: str, capitals: str) -> None:
    data = changed(source_language=language, repeat_in_lower_case=NEARLY_ALL, repeat_in_capitals=NEARLY_ALL)
    _, (in_lower, _), (in_capitals, _) = repetitions([(line, "Anything")], data)
    assert (in_lower, in_capitals) == (lower, capitals)


def test_a_copy_that_equals_its_pair_is_left_out() -> None:
    pairs = [("see", "Sieh"), ("42!", "42!"), ("家", "ÚT")]
    data = changed(repeat_in_lower_case=NEARLY_ALL)
    assert [pair for pair in repetitions(pairs, data) if pair not in pairs] in ([], [("42", "42")])
    assert list(repetitions([("家", "ÚT")], changed(repeat_in_capitals=NEARLY_ALL))) == [("家", "ÚT")]


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("Hello.", "Hallo!"), ("Hello", "Hallo")),
        (("これは本です。", "This is a book."), ("これは本です", "This is a book")),
        (("यह घर है।", "This is a house."), ("यह घर है", "This is a house")),
        (("I live here", "Ich wohne hier."), None),
        (("Well...", "Na ja..."), None),
        (("At 5 p.m.", "Um 17 Uhr."), None),
        (("This is plan B.", "Das ist Plan B."), None),
        (('"Yes."', '"Ja."'), None),
        ((".", "."), None),
    ],
)
def test_only_a_single_mark_after_a_word_is_removed(pair: tuple[str, str], expected: tuple[str, str] | None) -> None:
    assert without_final_punctuation(pair) == (expected or pair)


def test_training_text_has_the_copies_that_are_short_enough(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("the house\tdas haus\na cat\teine katze\n" * 3)
    (tmp_path / "letters.tsv").write_text("the house A\tdas haus T E H\neine katze\tD S A\n" * 3)
    text, letters, vocabulary = str(tmp_path / "a.tsv"), str(tmp_path / "letters.tsv"), tmp_path / "vocabulary.model"
    load_corpus(Data("en", "de", letters, letters, vocabulary_size=36), vocabulary)
    data = Data("en", "de", text, text, repeat_in_capitals=NEARLY_ALL)
    plain = load_corpus(msgspec.structs.replace(data, repeat_in_capitals=0.0), vocabulary)
    corpus = load_corpus(data, vocabulary)
    encode = corpus.vocabularies.source.encode
    assert list(corpus.training)[::2] == list(plain.training)
    assert corpus.training[1] == (encode("THE HOUSE"), encode("DAS HAUS"))
    assert corpus.validation == plain.validation
    longest = max(len(side) for pair in plain.training for side in pair)
    assert max(len(side) for pair in corpus.training for side in pair) > longest
    short = load_corpus(msgspec.structs.replace(data, maximum_length=longest), vocabulary)
    assert list(short.training) == list(plain.training)
    assert not short.left_out
