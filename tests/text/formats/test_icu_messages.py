"""Forms of ICU messages as sentences."""

import pytest

from pocketmt.text.formats.icu_messages import Message, has_forms, read_message


def message_of(text: str) -> Message:
    message = read_message(text)
    assert has_forms(text) and message is not None
    return message


@pytest.mark.parametrize(
    ("message", "sentences", "written"),
    [
        (
            "{count, plural, one {# day} other {# days}}",
            ["{count} day", "{count} days"],
            "{count, plural, one {# day} other {# days}}",
        ),
        (
            "You have { n ,selectordinal,\n  =0{no days}\n  other {# days} } left, {name}.",
            ["You have no days left, {name}.", "You have {n} days left, {name}."],
            "{n, selectordinal, =0 {You have no days left, {name}.} other {You have # days left, {name}.}}",
        ),
        (
            "{g, select, male {He has {n, plural, one {# dog} other {# dogs}}} other {They #}}!",
            ["He has {n} dog!", "He has {n} dogs!", "They #!"],
            "{g, select, male {{n, plural, one {He has # dog!} other {He has # dogs!}}} other {They #!}}",
        ),
        # "#" is a number in the form of the language, "{n}" is not.
        (
            "{n, plural, other {{m, plural, few {# of {n}} two {{g, select, a {#th}}}} of #}}",
            ["{m} of {n} of {n, number}", "{m}th of {n, number}"],
            "{n, plural, other {{m, plural, few {# of {n} of {n, number}} two {{g, select, a {#th of {n, number}}}}}}}",
        ),
        (
            "{n, plural, other {{m, plural, other {# of} } #}}",
            ["{m} of {n, number}"],
            "{n, plural, other {{m, plural, other {# of {n, number}}}}}",
        ),
        (
            "{n, plural, other {x}} {m, plural, one {y} other {it's {when, date, short}}}",
            ["x y", "x it's {when, date, short}"],
            "{n, plural, other {{m, plural, one {x y} other {x it's {when, date, short}}}}}",
        ),
    ],
)
def test_forms_are_complete_sentences(message: str, sentences: list[str], written: str) -> None:
    found = message_of(message)
    assert found.sentences == sentences
    assert found.written(sentences) == written


@pytest.mark.parametrize(
    "message",
    [
        "{n, plural, offset:1 one {a} other {b}}",
        "{n, plural, one {a} one {b}}",
        "{n, plural, one {a} other {b}",
        "{n, plural, one {a}",
        "{n, plural, one {'{' #} other {b}}",
        "{n, plural,}",
        "{n, plural, one a}",
        "a } {n, plural, other {x}}",
        "} {n, plural, other {x}} {",
        "{n, choice, 0#no files|1#a file}",
        "{n, plural, other {it'''# }}",
        "{n, plural, other {x}} {m, plural,",
        *("{n, plural, other {x}} " * 8, "{n, plural, a {x} b {y} c {z} d {u} e {v}} " * 3),
    ],
)
def test_what_cannot_be_divided_is_left(message: str) -> None:
    assert has_forms(message)
    assert read_message(message) is None


@pytest.mark.parametrize("text", ["", "a {name} b", "{when, date, short}", "plural, select"])
def test_other_texts_have_no_forms(text: str) -> None:
    assert not has_forms(text)
    assert read_message(text) is None


@pytest.mark.parametrize("translation", ["Hunde} two {zwei", "} x {", "{", "{n, plural, other {x}}"])
def test_translations_that_disturb_the_braces_are_refused(translation: str) -> None:
    assert message_of("{n, plural, one {dog} other {dogs}}").written(["Hund", translation]) is None


def test_an_apostrophe_before_a_brace_is_doubled() -> None:
    message = message_of("{n, plural, other {the {x} of it''{x}}}")
    assert message.written(["l'{x} d''{x} l'on"]) == "{n, plural, other {l''{x} d''{x} l'on}}"
