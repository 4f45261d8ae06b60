"""Reading lines in chunks, full ones from files and as they arrive from pipes, and writing to open files."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt import progress
from pocketmt.cli.main import run
from pocketmt.cli.streams import READ_BYTES, open_input, read_chunks, warn, write_blocks
from pocketmt.errors import DataError

from .conftest import command_line


@pytest.fixture
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    reading, writing = os.pipe()
    with open(reading, "rb") as source, open(writing, "wb", buffering=0) as target:
        yield source, target


def test_files_are_read_in_full_chunks(tmp_path: Path) -> None:
    path = tmp_path / "text"
    lines = [f"line {number} " + "word " * (number % 50) for number in range(10_000)]
    path.write_text("".join(f"{line}\n" for line in lines))
    assert path.stat().st_size > 10 * READ_BYTES
    with path.open("rb") as source:
        chunks = list(read_chunks(source, "text", 256))
    assert [len(chunk) for chunk in chunks] == [256] * 39 + [16]
    assert list(chain(*chunks)) == lines


def test_a_pipe_that_holds_enough_gives_full_chunks(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    source, target = pipe
    target.write(b"line\n" * 1000)
    chunks = read_chunks(source, "stdin", 256)
    assert [len(next(chunks)) for _ in range(5)] == [256, 256, 256, 232, 0]


def test_lines_of_a_pipe_are_yielded_before_the_next_read_blocks(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    source, target = pipe
    chunks = read_chunks(source, "stdin", 2)
    assert next(chunks) == []
    target.write(b"one\ntw")
    assert next(chunks) == ["one"]
    assert next(chunks) == []
    target.write(b"o\nthree\n")
    assert next(chunks) == ["two", "three"]
    assert next(chunks) == []
    target.write(b"four")
    target.close()
    assert list(chunks) == [["four"]]


def test_a_non_blocking_pipe_is_waited_for(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    source, target = pipe
    os.set_blocking(source.fileno(), False)
    chunks = read_chunks(source, "stdin", 8)
    assert next(chunks) == []
    target.write(b"one\n")
    assert next(chunks) == ["one"]


TEXT = "the tree is green\n" * 9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT.encode("utf-16"), "page is UTF-16: convert it to UTF-8"),
        (TEXT.encode("utf-16-be"), "page has NUL bytes, as UTF-16 and binary files have: convert it to UTF-8 text"),
        (gzip.compress(TEXT.encode(), mtime=0), "page is compressed by gzip: decompress it"),
        (bz2.compress(TEXT.encode()), "page is compressed: decompress it"),
        (lzma.compress(TEXT.encode()), "page is compressed: decompress it"),
        (b"PK\x03\x04\x14\0", "page is a ZIP archive or an office document: extract its text"),
        (b"%PDF-1.7\n", "page is a document that is not text"),
    ],
)
def test_what_is_not_plain_text_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_chunks(io.BytesIO(content), "page", 8))


def without_magic_bytes(blocks: list[bytes]) -> bool:
    first = next(filter(None, blocks), b"")
    return first[:2] not in (b"\x1f\x8b", b"PK", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and b"\0" not in first


@given(
    st.lists(st.binary(max_size=12).map(lambda block: block.replace(b"x", b"\n")), max_size=8).filter(
        without_magic_bytes
    ),
    st.integers(1, 4),
)
def test_lines_do_not_depend_on_how_bytes_arrive(blocks: list[bytes], size: int) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        with open(writing, "wb", buffering=0) as target:
            chunks = read_chunks(source, "stdin", size)
            found = list(next(chunks))
            for block in filter(None, blocks):
                target.write(block)
                while chunk := next(chunks):
                    assert len(chunk) <= size
                    found += chunk
        found += chain(*chunks)
    whole = b"".join(blocks)
    expected = whole.split(b"\n")[: None if whole and not whole.endswith(b"\n") else -1]
    assert found == [line.removesuffix(b"\r").decode("utf-8", errors="replace") for line in expected]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_messages_on_a_terminal_begin_on_a_new_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(progress, "TERMINAL_SECONDS", 0.0)

    def blocks() -> Iterator[tuple[bytes, int]]:
        yield b"a\n", 1
        warn("one")
        yield b"b\n", 1
        raise DataError("two")

    @click.command()
    def command() -> None:
        write_blocks(blocks(), io.BytesIO(), show_progress=True)

    assert run([], command) == 1
    shown = terminal.getvalue().replace("\r\x1b[K", "").splitlines()
    expected = ["translated 1 lines", "warning: one", "translated 2 lines", "error: two"]
    assert [line.partition(",")[0] for line in shown] == expected


def test_a_terminal_is_told_that_lines_are_read_from_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    terminal, keyboard = pty.openpty()
    with open(terminal, "wb"), open(keyboard, encoding="utf-8") as stdin, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        with open_input(None) as stream:
            assert stream is stdin.buffer
    assert capsys.readouterr().err == "reading lines from the keyboard; Ctrl-D ends\n"
    (tmp_path / "text").touch()
    with (tmp_path / "text").open(encoding="utf-8") as stdin, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        with open_input(None):
            pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_dev_stdout_is_written_where_the_shell_is(random_model: Path, tmp_path: Path, mode: str) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"earlier\n")
    with path.open(mode) as stream:
        stream.write(b"header\n")
        stream.flush()
        command = command_line("translate", "-m", random_model, "--output", "/dev/stdout")
        subprocess.run(command, input=b"\n", stdout=stream, check=True)
        stream.write(b"footer\n")
    assert path.read_bytes() == (b"earlier\n" if mode == "ab" else b"") + b"header\n\nfooter\n"


def test_an_empty_file_is_no_gzip(tmp_path: Path) -> None:
    (tmp_path / "text.gz").touch()
    with pytest.raises(DataError, match=r"text\.gz: broken gzip \(0 bytes\)"), open_input(tmp_path / "text.gz"):
        pass
