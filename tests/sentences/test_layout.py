"""Marks around sentences: of lists, headings, quotations, brackets, emphasis, and cells of tables."""

import pytest

from pocketmt.sentences import translation_spans


def translated(line: str, language: str = "en", *, split: bool = True) -> list[str]:
    """Return the texts of a line that are translated."""
    spans = list(translation_spans(line, language, split=split, longest=1000))
    places = [place for span in spans for place in (span.start, span.end)]
    assert places == sorted(places)
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert all(place in covered or character.isspace() for place, character in enumerate(line))
    return [line[span.start : span.end] for span in spans if span.reason is None]


@pytest.mark.parametrize(
    "marker",
    [
        "- ",
        "– ",
        "* ",
        "• ",
        "1. ",
        "12) ",
        "(3) ",
        "a) ",
        "(B) ",
        "# ",
        "### ",
        "> ",
        ">> ",
        "[ ] ",
        "[x] ",
        "- [ ] ",
        "\t- ",
        "- \u3000",
    ],
)
def test_markers_are_copied(marker: str) -> None:
    assert translated(f"{marker}Wash your hands. Go home.") == ["Wash your hands.", "Go home."]
    assert translated(f"  {marker}milk") == ["milk"]
    assert translated(f"{marker}Wash it.", split=False) == [f"{marker}Wash it.".strip()]


@pytest.mark.parametrize(
    "line", ["A. Smith is here.", "-5 degrees", "#topic is new", "*", "I) am", "1.5 litres", "well - milk", "2024. We"]
)
def test_other_text_has_no_markers(line: str) -> None:
    expected = {"I) am": ["am"], "*": []}
    assert translated(line) == expected.get(line, [line])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("3. Mai ist ein Feiertag", ["3. Mai ist ein Feiertag"]),
        ("1. deutsche Meisterin", ["1. deutsche Meisterin"]),
        ("1. Komm herein.", ["Komm herein."]),
        ("1) deutsche Wörter", ["deutsche Wörter"]),
        ("20. Jahrhundert", ["20. Jahrhundert"]),
        ("3. Sept. 2020", ["3. Sept. 2020"]),
        ("1. Teile das Brot.", ["Teile das Brot."]),
        ("2. Augen zu!", ["Augen zu!"]),
        ("24. 12. 2020 war ein Donnerstag.", ["24. 12. 2020 war ein Donnerstag."]),
    ],
)
def test_ordinal_numbers_are_no_markers(line: str, expected: list[str]) -> None:
    assert translated(line, "de") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(Tom is here.)", ["Tom is here."]),
        ("(laughs) I know (it).", ["(laughs) I know (it)."]),
        ("(a) b (c)", ["b (c)"]),
        ("[laughs] I know.", ["laughs", "I know."]),
        ("[here](https://a.b)", ["[here](https://a.b)"]),
        ("**Hello!**", ["Hello!"]),
        ("**Hello** you", ["**Hello** you"]),
        ("__name__", []),
        ("`git status`", []),
        ("(*Tom*)", ["Tom"]),
        ("**(Tom is here.)**", ["Tom is here."]),
        ("(Hello :)", ["(Hello :)"]),
        ("[He] said so.", ["[He] said so."]),
        ("[a] and [b]", ["[a] and [b]"]),
        ("~~no~~", ["no"]),
        ("**", []),
        ("***", []),
        ("* *", []),
        ("(…)", []),
        ("...and he left.", ["and he left."]),
        ("- …so what?", ["so what?"]),
        ("Wait. (...and so on)", ["Wait.", "and so on"]),
        ("Wait...", ["Wait..."]),
        (".NET is here.", [".NET is here."]),
    ],
)
def test_marks_around_a_sentence_are_copied(line: str, expected: list[str]) -> None:
    assert translated(line) == expected


def test_cells_are_translated_by_themselves() -> None:
    assert translated("milk\tbread\t\t25\tButter is good. Go.") == ["milk", "bread", "Butter is good.", "Go."]
    assert translated(" | Name | Age || ") == ["Name", "Age"]
    assert translated("this | that · the other • more") == ["this", "that", "the other", "more"]
    assert translated("this|that, a·b") == ["this|that, a·b"]
    assert translated("Hello {{ name | upper }}, run `ls | wc` now") == ["Hello {{ name | upper }}, run `ls | wc` now"]
    assert translated("| {{ name | upper }} is here | now |") == ["{{ name | upper }} is here", "now"]
    assert translated("a\tb", split=False) == ["a\tb"]
    assert translated("a)\tFirst thing") == ["First thing"]
    assert translated("| [x] | (a) | done |") == ["done"]


@pytest.mark.parametrize(
    "text", ["\t" * 50_000, "|" * 50_000, "(" * 50_000, "*" * 50_000, "- " * 25_000, "[" * 50_000, "." * 50_000]
)
def test_hostile_text_is_searched_before_the_timeout(text: str) -> None:
    assert translated(text) == []
    assert len(translated(f"{text}a b{text}")) <= 2
