"""Forms of ICU messages as sentences."""

import pytest

from pocketmt.text.formats.icu_messages import Forms, has_forms, read_forms


def forms_of(text: str) -> Forms:
    forms = read_forms(text)
    assert has_forms(text) and forms is not None
    return forms


@pytest.mark.parametrize(
    ("message", "sentences", "written"),
    [
        (
            "{count, plural, one {# day} other {# days}}",
            ["{count} day", "{count} days"],
            "{count, plural, one {{count} day} other {{count} days}}",
        ),
        (
            "You have { n ,selectordinal,\n  =0{no days}\n  other {# days} } left, {name}.",
            ["You have no days left, {name}.", "You have {n} days left, {name}."],
            "{n, selectordinal, =0 {You have no days left, {name}.} other {You have {n} days left, {name}.}}",
        ),
        (
            "{g, select, male {He has {n, plural, one {# dog} other {# dogs}}} other {They #}}!",
            ["He has {n} dog!", "He has {n} dogs!", "They #!"],
            "{g, select, male {{n, plural, one {He has {n} dog!} other {He has {n} dogs!}}} other {They #!}}",
        ),
        (
            "{n, plural, other {{m, plural, few {# of {n}} other {{g, select, other {#th}}}} of #}}",
            ["{m} of {n} of {n}", "{m}th of {n}"],
            "{n, plural, other {{m, plural, few {{m} of {n} of {n}} other {{g, select, other {{m}th of {n}}}}}}}",
        ),
        (
            "{n, plural, other {x}} {m, plural, one {y} other {it's {when, date, short}}}",
            ["x y", "x it's {when, date, short}"],
            "{n, plural, other {{m, plural, one {x y} other {x it's {when, date, short}}}}}",
        ),
    ],
)
def test_forms_are_complete_sentences(message: str, sentences: list[str], written: str) -> None:
    forms = forms_of(message)
    assert list(forms.sentences()) == sentences
    assert forms.written(iter(sentences)) == written
    # The result has the same sentences.
    assert list(forms_of(written).sentences()) == sentences


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
        "{n, plural, other {x}} {m, plural,",
        *("{n, plural, other {x}} " * 8, "{n, plural, a {x} b {y} c {z} d {u} e {v}} " * 3),
    ],
)
def test_what_cannot_be_divided_is_left(message: str) -> None:
    assert has_forms(message)
    assert read_forms(message) is None


@pytest.mark.parametrize("text", ["", "a {name} b", "{when, date, short}", "plural, select", "{n, choice, 0#x}"])
def test_other_texts_have_no_forms(text: str) -> None:
    assert not has_forms(text)
    assert read_forms(text) is None
