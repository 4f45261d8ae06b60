"""JSON files: which strings are translated, and that everything else is copied."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from pocketmt.errors import DataError
from pocketmt.text.formats.json_values import read_units

MESSAGES = """\
{
  "@@locale": "en",
  "title" : "Hello, \\"Tom\\"\\u0021",
  "@title": {"description": "Above the menu", "type": "text"},
  "menu": {"open": "Open", "items": ["One", ["two"], {"name": "Three"}, 4, true, null], "empty": ""},
  "days": "{count, plural, one {# day} other {# days}}",
  "lines": "First line.\\r\\nSecond\\/third.\\n",
  "size": "12 %", "title": "again: {\\"a\\": \\"b\\"}"
}
"""


def texts(content: str, **options: Any) -> list[tuple[str, ...]]:
    return [unit.lines for unit in read_units([content.encode()], "x.json", **options) if unit.lines != ("",)]


def translated(content: str, translate: Callable[[str], str] = str, **options: Any) -> str:
    units = read_units([content.encode()], "x.json", **options)
    parts = ((unit.before, unit.encode("\n".join(map(translate, unit.lines))), unit.after) for unit in units)
    return b"".join(part for unit in parts for part in unit).decode()


def test_strings_with_letters_are_translated_and_keys_are_not() -> None:
    assert texts(MESSAGES) == [
        ('Hello, "Tom"!',),
        ("Open",),
        ("One",),
        ("two",),
        ("Three",),
        ("{count} day", "{count} days"),
        ("First line.", "Second/third.", ""),
        ('again: {"a": "b"}',),
    ]


def test_what_stays_the_same_is_copied_with_its_escapes() -> None:
    assert translated(MESSAGES) == MESSAGES


def test_translations_are_written_as_json() -> None:
    written = json.loads(translated(MESSAGES, lambda line: f'„{line}" ü\\'), object_pairs_hook=list)
    values = dict(written)
    assert values["lines"] == '„First line." ü\\\r\n„Second/third." ü\\\n„" ü\\'
    assert next(value for key, value in written if key == "title") == '„Hello, "Tom"!" ü\\'
    assert values["@@locale"] == "en" and dict(values["@title"])["description"] == "Above the menu"
    assert "ü" in translated('["a"]', lambda _: "ü")


def test_only_strings_with_the_key_are_translated() -> None:
    content = '{"a": {"message": "One", "description": "two", "x": {"message": ["Three", {"y": "z"}]}}, "b": "four"}'
    assert texts(content, field="message") == [("One",), ("Three",)]
    assert translated(content, str.upper, field="message") == content.replace("One", "ONE").replace("Three", "THREE")
    with pytest.raises(DataError, match="no string has the key 'text': name another one"):
        texts(content, field="text")


def test_a_value_may_stand_alone() -> None:
    assert translated(' "Hello." ', str.upper) == ' "HELLO." '
    assert translated("12\n") == "12\n"


def test_messages_with_forms_are_translated_as_sentences() -> None:
    german = {"I have {n} dog.": "Ich habe {n} Hund.", "Good.": "Gut.", "I have {n} dogs.": "Ich habe {n} Hunde."}
    message = "I have {n, plural, one {# dog} other {# dogs}}.\r\nGood."
    content = json.dumps({"dogs": message})
    assert texts(content) == [("I have {n} dog.", "Good.", "I have {n} dogs.", "Good.")]
    written = translated(content, lambda line: german.get(line, line))
    assert json.loads(written) == {
        "dogs": "{n, plural, one {Ich habe # Hund.\r\nGut.} other {Ich habe # Hunde.\r\nGut.}}"
    }


def test_messages_that_are_copied_are_named() -> None:
    warnings: list[str] = []
    end = (
        "ICU messages (plural, select, choice) were copied, not translated: translate them by hand (they have an "
        "offset, a choice, an apostrophe before a brace, a # beside the forms, or braces that do not match)"
    )
    content = '["{a, plural, offset:1 other {x}}",\n"Good."]'
    assert translated(content, str.upper, warn=warnings.append) == content.replace("Good.", "GOOD.")
    # A translation with another brace would end the form.
    content = '[\n"{a, plural, other {x}}"]'
    assert translated(content, lambda line: line + "}", warn=warnings.append) == content
    many = "[" + '"{n,select,",\n' * 7 + '"x"]'
    translated(many, warn=warnings.append)
    assert warnings == [f"x.json, {lines}: {end}" for lines in ("line 1", "line 2", "lines 1, 2, 3, 4, 5 and 2 more")]


def test_strings_for_programs_are_copied() -> None:
    code = [
        *(
            "en-US",
            "./src/main.ts",
            "/usr/bin",
            "user_name",
            "btn.primary",
            "ctrl+shift",
            "fontSize",
            "#ff00aa",
            "C:\\x",
        ),
        *("550e8400-e29b-41d4", "2024-01-02", "YYYY-MM-DD", "HH:mm", "text/html", "application/ld+json"),
    ]
    prose = [
        *(
            "Open",
            "E-Mail",
            "Loading...",
            "Hello,{first_name}!",
            "Yes/No",
            "my_file is here",
            "Dr. Smith",
            "Lehrer:innen",
        ),
        *(
            "24-hour",
            "2-Wege",
            "/day",
            "$5/month",
            "~approx",
            "U.S.",
            "a.m.",
            "Mama",
            "and/or",
            "#topic",
            "face-a-face",
        ),
    ]
    assert texts(json.dumps(code + prose)) == [(text,) for text in prose]


def test_forms_of_vue_are_translated_by_themselves() -> None:
    content = '["no cars | one car | {n} cars", "a|b"]'
    assert texts(content) == [("no cars", "one car", "{n} cars"), ("a|b",)]
    assert translated(content, str.upper) == '["NO CARS | ONE CAR | {N} CARS", "A|B"]'


def test_only_data_about_messages_have_a_key_with_the_sign() -> None:
    content = '{"@graph": [{"headline": "Good night!"}], "@id": "night", "@type": "x", "id": "good"}'
    assert texts(content) == [("Good night!",), ("x",), ("good",)]
    assert texts('{"@name": {"description": "Good night!"}}', field="description") == [("Good night!",)]


def test_a_file_without_text_is_named() -> None:
    warnings: list[str] = []
    assert translated('{"a": ["", 1]}', warn=warnings.append) == '{"a": ["", 1]}'
    assert warnings == ["x.json: has no text to translate"]


def test_a_byte_order_mark_stays() -> None:
    assert translated('\ufeff{"a": "b"}', str.upper) == '\ufeff{"a": "B"}'
    assert translated("\ufeff12") == "\ufeff12"


def test_units_know_their_lines() -> None:
    assert [unit.line for unit in read_units([MESSAGES.encode()], "x.json")] == [3, 5, 5, 5, 5, 6, 7, 8, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{\n"a": "b",\n}', "x.json, line 3: not JSON"),
        (b"", "x.json, line 1: not JSON"),
        (b'{"a": "b"}\n{"a": "b"}\n', "a file with an object on each line is JSON lines"),
        (b'{"a": "b\n"}', "line 1: not JSON"),
        (b'["\xff"]', "x.json, line 1: not UTF-8"),
        (b"[" * 100_000, "x.json: arrays or objects are nested more than about 900 deep: divide the file"),
    ],
)
def test_what_is_not_json_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_units([content], "x.json"))


@pytest.mark.parametrize("text", ["\r" * 200_000 + "a", "Y" * 200_000 + "x"], ids=["line ends", "date"])
def test_the_time_is_proportional_to_the_text(text: str) -> None:
    """A quadratic one would take minutes."""
    assert texts(json.dumps(text)) == [(text,)]


def test_the_time_is_proportional_to_the_arguments() -> None:
    """A quadratic one would take minutes."""
    message = "".join(f"{{a{number}, plural, " for number in range(60_000))
    assert texts(json.dumps(message)) == []


def test_numbers_may_be_long_and_surrogates_are_replaced() -> None:
    long = '{"n": ' + "9" * 10_000 + ', "a": "b\\ud800"}'
    assert texts(long) == [("b\ufffd",)]


def any_value(generator: random.Random, depth: int) -> Any:
    kind = generator.randrange(7 if depth else 4)
    if kind < 2:
        return "".join(generator.choices('b" \\/{}[]:,ü\u2028\n\r\t😀|', k=generator.randrange(8)))
    if kind < 4:
        return generator.choice([None, True, -1.5e3, 0])
    if kind < 6:
        keys = ("".join(generator.choices('ab":{}[]', k=3)) for _ in range(generator.randrange(4)))
        return {key: any_value(generator, depth - 1) for key in keys}
    return [any_value(generator, depth - 1) for _ in range(generator.randrange(4))]


def changed(value: Any) -> Any:
    if isinstance(value, str):
        return value.upper()
    if isinstance(value, dict):
        return {key: changed(each) for key, each in value.items()}
    return [changed(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(50))
def test_random_values_are_translated_as_a_parser_does(seed: int) -> None:
    generator = random.Random(seed)
    value = any_value(generator, 4)
    content = json.dumps(value, ensure_ascii=generator.random() < 0.5, indent=generator.choice([None, 2]))
    assert json.loads(translated(content, str.upper)) == changed(value)
