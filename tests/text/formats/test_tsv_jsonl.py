"""TSV and JSON lines: units to translate, both sides of parallel text, and malformed lines."""

import json
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import DataError
from pocketmt.text.formats import jsonl, tsv
from pocketmt.text.formats.format import Side, Unit

Read = Callable[[Iterable[bytes | None], str, str, str], Iterator[Unit | None]]


def translated(read: Read, content: bytes, column: str, added: str = "translation") -> bytes:
    """The output with upper-cased text as translations."""
    output = b""
    for unit in read([content], "file", column, added):
        assert unit is not None
        output += unit.before + unit.encode("\n".join(line.upper() for line in unit.lines)) + unit.after
    return output


@pytest.mark.parametrize(
    ("content", "column", "expected"),
    [
        (b"a\tb\nc\td\n", "1", b"a\tb\tA\nc\td\tC\n"),
        (b"a\tb\nc\td", "2", b"a\tb\tB\nc\td\tD\n"),
        (b"id\ttext\r\n1\tc\r\n", "text", b"id\ttext\ttranslation\r\n1\tc\tC\r\n"),
        (b'say "a\tb"\n\nc\n', "1", b'say "a\tb"\tSAY "A\n\nc\tC\n'),
        ("\ufeffä\tb\n".encode(), "1", "\ufeffä\tb\tÄ\n".encode()),
        (b"\tb\n", "1", b"\tb\t\n"),
    ],
)
def test_a_column_is_added_to_tsv(content: bytes, column: str, expected: bytes) -> None:
    assert translated(tsv.read_units, content, column) == expected


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        (b"a\tb\nc\n", "2", "file, line 2: 1 column, expected at least 2"),
        (b"a\tb\n", "text", "file, line 1: there is no column 'text', only 'a', 'b'"),
        (b"text\ttranslation\n", "text", "--translation-field"),
        (b"a\n\xff\n", "1", "file, line 2: not UTF-8"),
        (b"id\ttext\tnote\n1\tc\n", "text", "file, line 2: 2 columns, but the first line names 3: correct it"),
        (b"id\ttext\n\n1\tc\tx\n", "text", "file, line 3: 3 columns, but the first line names 2: correct it"),
        (b"text\ttext\nc\td\n", "text", "file, line 1: several columns are named 'text': give the number of one"),
    ],
)
def test_malformed_tsv_is_refused_with_its_line(content: bytes, column: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        translated(tsv.read_units, content, column)


def test_a_field_is_added_to_json_lines_and_nothing_else_changes() -> None:
    content = b'{"n": 1.00000000000000000001, "text": "a\\nb" }\r\n\n{"text": "", "text": "c"}'
    expected = (
        b'{"n": 1.00000000000000000001, "text": "a\\nb", "translation": "A\\nB"}\r\n\n'
        b'{"text": "", "text": "c", "translation": "C"}\n'
    )
    assert translated(jsonl.read_units, content, "text") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "a"}\n{"text": "a"\n', r"file, line 2: not JSON \(Expecting ',' delimiter, column 13\): write"),
        (b'["a"]\n', "line 1: expected a JSON object"),
        (b'{"txt": "a"}\n', "line 1: there is no field 'text' .fields: 'txt'"),
        (b'{"text": 3}\n', "line 1: the field 'text' is not a string"),
        (b'{"text": "a", "translation": ""}\n', "--translation-field"),
        (b'{"text": "\xff"}\n', "line 1: not UTF-8"),
        (b"[" * 100_000 + b"\n", "line 1: not JSON"),
        *((f'{{"text": "a"}}{space}\n'.encode(), "line 1: not JSON") for space in "\u00a0\u0085\u2028\x0c"),
        (b'\x0c{"text": "a"}\n', "line 1: not JSON"),
    ],
)
def test_malformed_json_lines_are_refused_with_their_line(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        translated(jsonl.read_units, content, "text")


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    (unit,) = jsonl.read_units([b'{"text": "a\\ud800"}\n'], "file", "text", "translation")
    assert unit is not None
    assert unit.lines == ("a\ufffd",)


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3), max_size=5), st.integers(1, 7))
def test_records_survive_any_division_into_blocks(records: list[dict[str, str]], size: int) -> None:
    lines = [json.dumps({**record, "text": "a"}) for record in records if "translation" not in record]
    content = "".join(f"{line}\n" for line in lines).encode()
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    units = jsonl.read_units(blocks, "file", "text", "translation")
    output = b"".join(unit.before + unit.encode("b") + unit.after for unit in units if unit is not None)
    found = [json.loads(line) for line in output.decode().split("\n")[:-1]]
    assert found == [json.loads(line) | {"translation": "b"} for line in lines]


@pytest.mark.parametrize(
    "content",
    ["a\tb\t0.3\n\nc\td\n", "id\tde\tEN\n1\tb\ta\n\n2\td\tc\n", "Target\tSource\nb\ta\n\nd\tc\n"],
)
def test_the_sides_of_tsv_are_its_first_columns_or_named_by_the_first_line(content: str) -> None:
    lines = content.encode().removesuffix(b"\n").split(b"\n")
    pairs = list(tsv.read_sides(lines, "file", ("source", "target"), ("en", "de")))
    assert pairs == [("a", "b"), ("", ""), ("c", "d")]


@pytest.mark.parametrize(
    "content", ["a\tb", "b", "a\tx\tb", "source\ttarget\na\tb", "source\ttranslation\ttarget\na\tb\tx"]
)
def test_the_translations_of_tsv_are_its_last_column_or_named_by_the_first_line(content: str) -> None:
    lines = content.encode().split(b"\n")
    assert list(tsv.read_sides(lines, "file", ("translation",), None)) == [("b",)]


def test_translations_among_several_named_columns_must_be_named() -> None:
    with pytest.raises(DataError, match="file, line 1: several columns may hold the translations"):
        list(tsv.read_sides([b"source\ttarget\tgerman", b"a\tx\tb"], "file", ("translation",), None))


@pytest.mark.parametrize(
    "line",
    [
        '{"source": "a", "target": "x", "translation": "b"}',
        '{"source": "a", "target": "b"}',
        '{"translation": {"source": "a", "target": "b"}}',
    ],
)
def test_the_translations_of_json_lines_are_a_field(line: str) -> None:
    assert list(jsonl.read_sides([line.encode()], "file", ("translation",), None)) == [("b",)]


@pytest.mark.parametrize("form", ['{"source": "a", "target": "b"}', '{"en": "a", "de": "b"}'])
@pytest.mark.parametrize("nested", [False, True])
def test_the_sides_of_json_lines_are_fields(form: str, nested: bool) -> None:
    line = f'{{"id": 1, "translation": {form}}}' if nested else form
    assert list(jsonl.read_sides([line.encode()], "file", ("source", "target"), ("en", "de"))) == [("a", "b")]
    assert list(jsonl.read_sides([line.encode()], "file", ("target",), ("en", "de"))) == [("b",)]


CODES = [
    ("de", "en", ("eng_Latn", "deu_Latn")),
    ("deu_Latn", "eng_Latn", ("en", "de")),
    ("DE", "EN", ("eng", "deu")),
    ("de-AT", "en-US", ("en-GB", "de")),
    ("en", "de", ("en", "de")),
    ("zh-Hant", "zh-Hans", ("zho_Hans", "zho_Hant")),
]


@pytest.mark.parametrize(("first", "second", "languages"), CODES)
def test_columns_and_fields_are_named_by_any_codes_of_the_languages(
    first: str, second: str, languages: tuple[str, str]
) -> None:
    expected = [("x", "y")] if first == languages[0] else [("y", "x")]
    table = [f"id\t{first}\t{second}".encode(), b"1\tx\ty"]
    assert list(tsv.read_sides(table, "file", ("source", "target"), languages)) == expected
    records = [json.dumps({first: "x", second: "y"}).encode()]
    assert list(jsonl.read_sides(records, "file", ("source", "target"), languages)) == expected
    assert list(jsonl.read_sides(records, "file", ("target",), languages)) == [expected[0][1:]]


@pytest.mark.parametrize(
    ("header", "languages", "message"),
    [
        (
            "de\tfr",
            ("en", "de"),
            "line 1: the columns are named by the languages de, fr, but the text",
        ),
        ("en-US\ten-GB\tde", ("en", "de"), "the text is in en and de"),
        ("deu_Latn\tace_Arab", ("en", "de"), "the text is in en and de"),
        ("en\tde", ("", ""), "those of the text are unknown"),
        ("en\tfr", ("en-US", "en-GB"), "is in en-US and en-GB"),
    ],
)
def test_columns_of_other_languages_are_refused(header: str, languages: tuple[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(tsv.read_sides([header.encode(), b"a\tb\tc"], "file", ("source", "target"), languages))


@pytest.mark.parametrize("line", ["\tb", "No\tno", "the\tder", "de", "so\t", "doc_id\tde_score"])
@pytest.mark.parametrize("languages", [("", ""), ("en", "de")])
def test_a_first_line_of_text_is_a_pair(line: str, languages: tuple[str, str]) -> None:
    cells = tuple(line.split("\t"))
    sides: tuple[Side, ...] = ("source", "target") if len(cells) == 2 else ("source",)
    assert list(tsv.read_sides([line.encode()], "file", sides, languages)) == [cells]


@pytest.mark.parametrize("line", ["to\tzu", "it\tes"])
def test_two_words_that_are_codes_of_other_languages_are_a_pair(line: str) -> None:
    cells = tuple(line.split("\t"))
    assert list(tsv.read_sides([line.encode()], "file", ("source", "target"), ("en", "de"))) == [cells]


def test_names_that_begin_with_a_code_are_no_languages() -> None:
    lines = [b"en\tde_score\tde_DE", b"a\t0.5\tb"]
    assert list(tsv.read_sides(lines, "file", ("source", "target"), ("en", "de"))) == [("a", "b")]
    record = b'{"en": "a", "de_corpus": "x", "de_DE": "b"}'
    assert list(jsonl.read_sides([record], "file", ("source", "target"), ("en", "de"))) == [("a", "b")]


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1, "target": "b", "score": 0.5}',
        '{"id": "1", "source": "a", "target": "b"}',
        '{"id": "1", "translation": {"source": "a", "target": "b"}}',
    ],
)
def test_other_fields_are_not_taken_for_translations(line: str) -> None:
    assert list(jsonl.read_sides([line.encode()], "file", ("translation",), None)) == [("b",)]


def test_fields_of_other_languages_are_refused() -> None:
    with pytest.raises(DataError, match="there is no field 'source' or 'en-US'"):
        list(jsonl.read_sides([b'{"en": "a", "fr": "b"}'], "file", ("source", "target"), ("en-US", "en-GB")))


@pytest.mark.parametrize(
    "line",
    [
        '{"source": "a", "target": "x", "german": "b"}',
        '{"translation": {"source": "a", "target": "x"}, "german": "b"}',
        '{"translation": {"source": "a", "target": "x", "german": "b"}}',
    ],
)
def test_translations_among_several_fields_must_be_named(line: str) -> None:
    with pytest.raises(DataError, match="file, line 1: several fields may hold the translations"):
        list(jsonl.read_sides([line.encode()], "file", ("translation",), None))
    assert list(jsonl.read_sides([line.encode()], "file", ("target",), None)) == [("x",)]
