import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.text.corpus import both_sides, read_lines, read_pairs, write_pairs

lines = st.lists(
    st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]), max_size=20), max_size=20
)
in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["plain.txt", "packed.txt.gz"])
@given(texts=lines, ending=st.sampled_from(["\n", "\r\n"]))
@in_a_folder
def test_reads_back_what_was_written(tmp_path: Path, name: str, texts: list[str], ending: str) -> None:
    path = written(tmp_path / name, "".join(text + ending for text in texts).encode())
    assert list(read_lines(path)) == texts


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\n\ntwo\n", ["one", "", "two"]),
        (b"carriage\rreturn\n", ["carriage\rreturn"]),
        ("a\u2028b\u0085c\x0cd\n".encode(), ["a\u2028b\u0085c\x0cd"]),
    ],
)
def test_lines_end_at_line_feeds_alone(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    assert list(read_lines(written(tmp_path / "text", data))) == expected


def test_a_byte_order_mark_does_not_become_text(tmp_path: Path) -> None:
    path = written(tmp_path / "text", b"\xef\xbb\xbfone\ntwo\n")
    assert list(read_lines(path)) == ["one", "two"]


def test_lines_come_before_the_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = written(tmp_path / "text", b"good\n" * 100_000 + b"\xff\n")
    assert next(iter(read_lines(path))) == "good"


def not_utf8(path: Path) -> None:
    written(path, b"good\n\xff\n")


def cut_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(b"line\n" * 1000)[:-20])


def no_gzip(path: Path) -> None:
    path.write_bytes(b"plain text\n")


@pytest.mark.parametrize(
    ("name", "break_it", "message"),
    [
        ("text", not_utf8, "line 2: not UTF-8"),
        ("text.gz", cut_gzip, "broken gzip"),
        ("text.gz", no_gzip, "broken gzip"),
        ("text.gz", lambda path: path.touch(), "broken gzip .0 bytes."),
        ("text", lambda path: path.symlink_to(path), "cannot be read"),
        ("missing", lambda path: None, "cannot be read"),
        ("folder", lambda path: path.mkdir(), "cannot be read"),
    ],
)
def test_unreadable_files_are_named(tmp_path: Path, name: str, break_it: Callable[[Path], None], message: str) -> None:
    path = tmp_path / name
    break_it(path)
    with pytest.raises(DataError, match=message) as raised:
        list(read_lines(path))
    assert str(path) in str(raised.value)


def test_every_flipped_byte_of_a_gzip_file_is_noticed_or_harmless(tmp_path: Path) -> None:
    expected = [f"line {number * number}" for number in range(40)]
    data = gzip.compress("".join(f"{line}\n" for line in expected).encode(), mtime=0)
    path = tmp_path / "text.gz"
    noticed = 0
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :])
        try:
            assert list(read_lines(path)) == expected
        except DataError as error:
            noticed += 1
            assert str(path) in str(error)
    assert noticed > 0.9 * len(data)


@given(lines)
@in_a_folder
def test_pairs(tmp_path: Path, texts: list[str]) -> None:
    source = written(tmp_path / "source.gz", "".join(f"{text}\n" for text in texts).encode())
    target = written(tmp_path / "target", "".join(f"{text}!\n" for text in texts).encode())
    assert list(read_pairs(source, target)) == [(text, f"{text}!") for text in texts]


@pytest.mark.parametrize(("sources", "targets"), [(3, 5), (5, 3), (0, 1), (1, 0)])
def test_unequal_files_are_refused_with_both_counts(tmp_path: Path, sources: int, targets: int) -> None:
    source = written(tmp_path / "source", b"x\n" * sources)
    target = written(tmp_path / "target", b"y\n" * targets)
    with pytest.raises(DataError, match=rf"source has {sources} lines but .*target has {targets}"):
        list(read_pairs(source, target))


def test_pairs_before_the_difference_are_yielded(tmp_path: Path) -> None:
    source, target = written(tmp_path / "source", b"a\nb\n"), written(tmp_path / "target", b"c\n")
    pairs = read_pairs(source, target)
    assert next(pairs) == ("a", "c")
    with pytest.raises(DataError):
        next(pairs)


def test_a_file_of_a_parallel_format_holds_both_sides(tmp_path: Path) -> None:
    tsv, packed, jsonl = tmp_path / "text.tsv", tmp_path / "text.TSV.gz", tmp_path / "text.jsonl"
    tsv.write_text("a\tb\r\nc\td\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(b"a\tb\nc\td"))
    jsonl.write_text('{"en": "a", "de": "b"}\n{"en": "c", "de": "d"}\n', encoding="utf-8")
    for path in (tsv, packed, jsonl):
        assert list(read_pairs(path, path, ("en", "de"))) == [("a", "b"), ("c", "d")]
        assert list(read_lines(path, "source", ("en", "de"))) == ["a", "c"]
        assert list(read_lines(path, "target", ("en", "de"))) == ["b", "d"]
        assert list(read_pairs(tsv, path, ("en", "de"))) == [("a", "b"), ("c", "d")]
        assert both_sides(path, None) == (path, path)


def test_plain_text_needs_two_different_files(tmp_path: Path) -> None:
    text, link = tmp_path / "text.en", tmp_path / "text.de"
    text.write_text("a\n")
    link.symlink_to(text)
    with pytest.raises(ConfigurationError, match="TSV, JSONL or TMX"):
        both_sides(text, None)
    for target in (text, link):
        with pytest.raises(ConfigurationError, match="given for both sides"):
            list(read_pairs(text, target))


def test_plain_text_is_not_written_under_the_suffix_of_a_parallel_format(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigurationError, match="choose another suffix"),
        write_pairs(tmp_path / "a", tmp_path / "b.tsv"),
    ):
        pass
