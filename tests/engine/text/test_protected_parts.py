"""Sentences whose translation loses a URL, an e-mail address, a tag, a placeholder or a symbol."""

import warnings
from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, cast

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.line_parts import DividedLine
from pocketmt.engine.lines import PendingLines
from pocketmt.engine.protection import LineProtection

LINE = "The man {name}, rides http://a.b/c?d=e now. A dog 😀 sees."
PARTS = ["The man", "rides", "now.", "A dog", "sees."]


@pytest.fixture
def translator(model_path: Path) -> Translator:
    return Translator(model_path)


@pytest.mark.parametrize("options", [{}, {"beam_size": 1}, {"repeat_limit": 2}])
def test_the_parts_are_copied_and_the_text_between_them_is_translated(
    translator: Translator, options: dict[str, Any]
) -> None:
    man, rides, now, dog, sees = translator.translate(PARTS, max_length=4, **options)
    man, rides, dog = (part.rstrip(".") for part in (man, rides, dog))
    expected = f"{man} {{name}}, {rides} http://a.b/c?d=e {now} {dog} 😀 {sees}"
    others = ["A dog.", "", "a man"]
    translated = translator.translate(others, max_length=4, **options)
    found = translator.translate([others[0], LINE, *others[1:], LINE], max_length=4, **options)
    assert found == [translated[0], expected, *translated[1:], expected]
    assert list(translator.translate_stream([LINE], max_length=4, **options)) == [expected]


def test_all_ways_to_translate_give_the_same_text(translator: Translator) -> None:
    [expected] = translator.translate([LINE], max_length=4)
    [[hypothesis]] = translator.translate_n_best([LINE], 1, max_length=4)
    [[detailed]] = translator.translate_detailed([LINE], max_length=4)
    assert hypothesis.text == detailed.text == expected
    assert translator.submit([LINE], max_length=4).result() == [expected]
    assert translator.translate_text(f"{LINE}\n\n{LINE}", max_length=4) == f"{expected}\n\n{expected}"
    assert translator.translate([LINE], max_length=4, replace_unknowns=True) == [expected]
    alignment = detailed.alignment
    assert alignment is not None
    for part in ("{name},", "http://a.b/c?d=e", "😀"):
        source, target = alignment.source_words.index(part), alignment.target_words.index(part)
        assert (source, target) in alignment.word_links()


def test_nothing_is_lost_beside_several_translations(translator: Translator) -> None:
    [hypotheses] = translator.translate_n_best([LINE], 3, beam_size=4, max_length=4)
    assert len(hypotheses) == 3
    for hypothesis in hypotheses:
        assert all(part in hypothesis.text for part in ("{name},", "http://a.b/c?d=e", "😀"))


def test_protection_is_an_option(translator: Translator) -> None:
    line = "The man {name}, rides"
    [expected] = translator.translate([line], max_length=4)
    assert "{name}," in expected
    assert translator.translate([line], max_length=4, split=False, protect=True) == [expected]
    assert "{name}" not in translator.translate([line], max_length=4, protect=False, check=False)[0]
    with pytest.raises(TypeError, match="protect"):
        translator.translate([line], protect=1)  # type: ignore[arg-type]


def test_parts_of_a_sentence_lose_marks_that_the_model_adds() -> None:
    captions = Translator("captions-en-de")
    [whole, ending] = captions.translate(["A man rides a bike", "Two dogs."])
    assert whole.endswith(".") and ending.endswith(".")
    assert captions.translate(["A man rides a bike 😀 Two dogs."]) == [f"{whole[:-1]} 😀 {ending}"]


def test_a_part_within_a_word_belongs_to_it() -> None:
    captions = Translator("captions-en-de")
    for line in ("A dog😀 runs in the park.", "A man rides {name}'s bike.", "The pre{x}fix dog runs."):
        [[found]] = captions.translate_detailed([line])
        assert found.alignment is not None
        assert found.alignment.source_words == tuple(line.split())
        assert len(found.alignment.target_words) >= len(found.text.split())
        assert max(source for source, _ in found.alignment.word_links()) < len(line.split())


def test_terms_do_not_change_what_stands_in() -> None:
    everyday = Translator("everyday-en-de")
    terms = {"Tom": "Thomas", "Paris": "Boston"}
    [found] = everyday.translate(["I love {person}."], terms=terms)
    assert "{person}" in found
    assert not any(word in found for word in ("Tom", "Boston", "Paris"))


def test_mathematical_signs_are_kept() -> None:
    lines = {"It is 5 ± 1 degrees.": "5 ± 1", "He's 5′10″ tall.": "5′10″", "The value is ≥ 5.": "≥ 5", "A × B": "×"}
    for part, found in zip(lines.values(), Translator("everyday-en-de").translate(list(lines)), strict=True):
        assert part in found


def test_a_term_may_replace_a_protected_part() -> None:
    everyday = Translator("everyday-en-de")
    terms = {"example.com": "beispiel.de", "1,250": "tausend"}
    lines = ["Visit example.com today.", "Visit example.com with {name} today.", "We have 1,250 members."]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone, beside, number = everyday.translate(lines, terms=terms)
    assert "beispiel.de" in alone and "example" not in alone
    assert "beispiel.de" in beside and "{name}" in beside
    assert "tausend" in number and "250" not in number


def test_amounts_of_money_stay_with_the_model() -> None:
    everyday = Translator("everyday-en-de")
    line = "The ticket was $8 and I had $8."
    assert everyday.translate([line], check=False) == everyday.translate([line], protect=False, check=False)


def test_numbers_are_kept_as_the_target_language_writes_them() -> None:
    lines = {
        "everyday-en-de": {"We bought the car for $12,000.": "12.000", "There were 12,345 people.": "12.345"},
        "everyday-de-en": {"Ein Tag hat 86 400 Sekunden.": "86 400", "Das Haus kostet 250.000 Euro.": "250,000"},
    }
    for name, numbers in lines.items():
        translator = Translator(name)
        for (line, number), found in zip(numbers.items(), translator.translate(list(numbers)), strict=True):
            assert number in found
            [detailed] = translator.translate_detailed([line])
            assert detailed[0].text == found
            assert detailed[0].alignment is not None
            assert detailed[0].alignment.source_words == tuple(line.split())


def test_versions_and_numbers_in_brackets_are_kept() -> None:
    lines = {
        "everyday-en-de": {
            "Those are gifts. v1.2.3": "v1.2.3",
            "Use v1.2.3 now.": "v1.2.3",
            "We read [12] yesterday.": "[12]",
        },
        "everyday-de-en": {"Die Version v1.4.2 funktioniert nicht.": "v1.4.2"},
    }
    for name, parts in lines.items():
        for part, found in zip(parts.values(), Translator(name).translate(list(parts)), strict=True):
            assert part in found.removesuffix(".").split()


def test_a_version_is_lost_where_its_digits_are_grouped() -> None:
    everyday = Translator("everyday-en-de")
    search = everyday._check({})
    line = everyday._divider.divide_for("It is 1.2.3 here.", search)
    protection = LineProtection(everyday._divider, [line.line], search)
    for whole in (True, False):
        assert protection.is_lost(line, "Es ist 1,2,3 hier.", whole=whole)
        assert not protection.is_lost(line, "Es ist 1.2.3 hier.", whole=whole)


def test_a_line_that_is_not_split_or_has_a_prefix_stays_whole(translator: Translator) -> None:
    assert "{name}" not in translator.translate([LINE], max_length=4, split=False, check=False)[0]
    prefixed = translator.translate([LINE], max_length=4, target_prefix="a man", check=False)[0]
    assert "{name}" not in prefixed
    assert prefixed.startswith("a man")


class Pending:
    """A translation by the stub of a model."""

    def __init__(self, results: list[list[tuple[list[int], float]]]) -> None:
        self.results = results
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def result(self) -> list[list[tuple[list[int], float]]]:
        if self.cancelled:
            raise CancelledError
        return self.results


class Model:
    """The stub of a model."""

    def __init__(self) -> None:
        self.started: list[Pending] = []

    def submit(self, sources: Sequence[Sequence[int]], *_: object) -> Pending:
        self.started.append(Pending([[([5], 0.0)] for _ in sources]))
        return self.started[-1]


def test_a_name_stands_in_where_the_model_keeps_it() -> None:
    everyday = Translator("everyday-en-de")
    line = "I love {person} very much. Good night!"
    [whole] = everyday.translate(["I love Tom very much. Good night!"])
    assert "Tom" in whole
    expected = whole.replace("Tom", "{person}")
    assert everyday.translate([line]) == [expected]
    [hypotheses] = everyday.translate_detailed([line], n_best=2)
    assert hypotheses[0].text == expected
    assert all("{person}" in hypothesis.text for hypothesis in hypotheses)
    alignment = hypotheses[0].alignment
    assert alignment is not None
    assert alignment.source_words == tuple(line.split())
    assert alignment.target_words == tuple(expected.split())
    links = [(alignment.source_words[a], alignment.target_words[b]) for a, b in alignment.word_links()]
    assert ("{person}", "{person}") in links
    # Tags have no stand-in: the sentence of one is put together.
    [found] = everyday.translate([f"<b>{line}</b>"])
    assert found.startswith("<b>") and found.endswith("</b>") and "{person}" in found


def test_sentences_are_protected_one_by_one() -> None:
    everyday = Translator("everyday-en-de")
    sentences = [
        "I love {person}.",
        "It is late.",
        "I love {a}, {b}, {c}, {d} and {e}.",
        "Good night 😀.",
        "I LOVE {person}.",
        "He lives in {city}.",
    ]
    alone = everyday.translate(sentences)
    line = "  ".join(sentences)
    assert everyday.translate([f" {line} "]) == [f" {'  '.join(alone)} "]
    [[detailed]] = everyday.translate_detailed([line])
    assert detailed.text == "  ".join(alone)
    assert detailed.alignment is not None
    assert detailed.alignment.source_words == tuple(line.split())
    assert detailed.alignment.target_words == tuple(detailed.text.split())
    assert [everyday.translate([each], split=False, protect=True)[0] for each in sentences] == alone


def test_alternatives_do_not_change_the_best_translation() -> None:
    everyday = Translator("everyday-en-de")
    lines = ["I bought %d apples.", "The price is %s.", "I love {person}.", "Where is {place}? It is late."]
    for text, hypotheses in zip(everyday.translate(lines), everyday.translate_n_best(lines, 3), strict=True):
        assert hypotheses[0].text == text
        assert 1 <= len(hypotheses) <= 3


@pytest.mark.parametrize("line", ["The man {name}, rides now.", LINE])
def test_a_cancelled_translation_does_not_go_on_with_the_second_one(translator: Translator, line: str) -> None:
    search = translator._check({"max_length": 4})

    class Cancelling(LineProtection):
        def sentences(self, index: int, line: DividedLine) -> tuple[DividedLine, list[str]] | None:
            pending.cancel()
            return super().sentences(index, line)

    model = Model()
    divider = translator._divider
    pending = PendingLines(
        cast(Any, model),
        translator._vocabularies,
        [divider.divide_for(line, search)],
        search,
        Cancelling(divider, [line], search),
    )
    with pytest.raises(CancelledError):
        pending.texts()
    assert [each.cancelled for each in model.started] == [True, True]


def test_a_prefix_concerns_its_line_alone() -> None:
    everyday = Translator("everyday-en-de")
    lines = [
        "Send it to tom@example.com by 5 PM.",
        "1. Wash your hands. (It costs $12,000.)",
        "THIS IS VERY GOOD.",
        "Łukasz has a dog.",
        "",
    ]
    plain = everyday.translate(lines)
    assert "tom@example.com" in plain[0] and plain[2].isupper()
    assert everyday.translate(lines, target_prefix=[None] * len(lines)) == plain
    first, *others = everyday.translate(
        ["I would like a cup of coffee.", *lines], target_prefix=["Ich möchte"] + [None] * 5
    )
    assert first.startswith("Ich möchte") and others == plain
    details = everyday.translate_detailed(lines, target_prefix=[*[None] * 4, "Das"])
    assert [each[0].text for each in details] == plain
    [with_prefix, without] = everyday.translate(["It costs 2.5 euros."] * 2, target_prefix=["Es kostet 2.5", ""])
    assert with_prefix.startswith("Es kostet 2.5") and "2,5" in without
    assert everyday.network_ids(lines[2], target_prefix=[None]) == everyday.network_ids(lines[2])
