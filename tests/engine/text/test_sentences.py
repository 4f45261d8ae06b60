"""Lines of several sentences: each sentence is translated as if it were alone, and the spaces between stay."""

from pathlib import Path

import pytest

from pocketmt.engine.options import SearchOptions
from pocketmt.engine.translator import Translator
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.reference import architecture, random_network, uniform, write

FIRST, SECOND, THIRD = "The man rides a bike.", "A dog sees the house!", "Two women read"


@pytest.fixture
def translator(model_path: Path) -> Translator:
    return Translator(model_path)


def test_sentences_of_a_line_are_translated_one_by_one(translator: Translator) -> None:
    alone = translator.translate([FIRST, SECOND, THIRD], max_length=12)
    assert translator.translate([f"{FIRST} {SECOND} {THIRD}"], max_length=12) == [" ".join(alone)]


def test_white_space_around_sentences_stays(translator: Translator) -> None:
    first, second = translator.translate([FIRST, SECOND], max_length=12)
    found = translator.translate([f"  {FIRST}\t\u00a0{SECOND}   ", f"{FIRST}\u2028{SECOND}\n"], max_length=12)
    assert found == [f"  {first}\t\u00a0{second}   ", f"{first} {second}"]


def test_a_line_is_translated_as_a_whole_if_it_is_not_split(translator: Translator) -> None:
    line = f"{FIRST} {SECOND}"
    [whole] = translator.translate_ids([translator.encode(line)], max_length=12)
    assert translator.translate([line], split=False, max_length=12) == [translator.decode(whole)]


def test_n_best_joins_translations_of_the_sentences(translator: Translator) -> None:
    sentences = translator.translate_n_best([FIRST, SECOND], 2, max_length=12)
    [line] = translator.translate_n_best([f"{FIRST}  {SECOND}"], 2, max_length=12)
    for joined, first, second in zip(line, *sentences, strict=True):
        assert joined.text == f"{first.text}  {second.text}"
        assert joined.score == pytest.approx((first.score + second.score) / 2)


def test_streams_split_lines_too(translator: Translator) -> None:
    line = f"{FIRST} {SECOND}"
    [expected] = translator.translate([line], max_length=12)
    assert list(translator.translate_stream([line, ""], max_length=12)) == [expected, ""]
    assert list(translator.translate_stream([line], split=False, max_length=12)) != [expected]


def test_a_text_keeps_its_line_breaks_and_blank_lines(translator: Translator) -> None:
    first, second = translator.translate([FIRST, SECOND], max_length=12)
    text = f"\n{FIRST}\r\n\r\n  {SECOND} {FIRST}\n\n"
    assert translator.translate_text(text, max_length=12) == f"\n{first}\r\n\r\n  {second} {first}\n\n"


@pytest.mark.parametrize("line_break", ["\n\v", "\f", "\r", "\x85", "\u2028", "\u2029"])
def test_all_line_breaks_of_a_text_divide_its_lines_and_stay(translator: Translator, line_break: str) -> None:
    first, third = translator.translate([FIRST, THIRD], max_length=12)
    text = f"{THIRD}{line_break}{FIRST}{line_break}"
    assert translator.translate_text(text, max_length=12) == f"{third}{line_break}{first}{line_break}"


@pytest.mark.parametrize("unit", ["line", "document"])
def test_a_model_of_lines_does_not_split_unless_asked(tmp_path: Path, vocabulary: Vocabulary, unit: str) -> None:
    path = tmp_path / "lines.pocketmt"
    write(path, random_network(architecture()), vocabulary, uniform, unit=unit)
    translator = Translator(path)
    assert translator.unit == unit
    line = f"{FIRST} {SECOND}"
    whole, split = (translator.translate([line], split=split, max_length=12) for split in (False, True))
    assert translator.translate([line], max_length=12) == whole != split


def test_details_of_several_sentences_have_their_spacing(translator: Translator) -> None:
    line = f" {FIRST}  {SECOND}"
    [[found]] = translator.translate_detailed([line], max_length=12)
    assert [found.text] == translator.translate([line], max_length=12)
    assert found.alignment is not None
    assert " ".join(found.alignment.source_words) == f"{FIRST} {SECOND}"


@pytest.mark.parametrize("character", "\u00ad\u061c\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff")
def test_invisible_characters_change_no_translation(translator: Translator, character: str) -> None:
    line = f"{FIRST} {SECOND} https://example.org/"
    hidden = character.join(["", *line, "\n"])
    options: SearchOptions = {"max_length": 12}
    assert translator.translate([hidden], **options) == translator.translate([line], **options)
    assert translator.translate_detailed([hidden], **options) == translator.translate_detailed([line], **options)
    assert translator.network_ids(hidden, **options) == translator.network_ids(line, **options)
    assert translator.encode(hidden) == translator.encode(line)
    assert translator.translate([f" {character}\u200b", character]) == ["", ""]
    terms = {"bi" + character + "ke": "ha" + character + "us"}
    expected = translator.translate([line], terms={"bike": "haus"}, max_length=12)
    assert translator.translate([hidden], terms=terms, max_length=12) == expected


def test_zero_width_spaces_are_spaces(translator: Translator) -> None:
    found, expected = (
        translator.translate([f"{space}{FIRST}{space}{SECOND.replace(' ', space)}{space}"], max_length=12)
        for space in ("\u200b", " ")
    )
    assert found == expected
