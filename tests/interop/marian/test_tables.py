"""Tables of ids in YAML, as Marian and other programs write them."""

import json
from pathlib import Path

import pytest

from pocketmt.errors import InteropError
from pocketmt.interop.marian.vocabularies import read_table

# Lines as YAML's programs write them -> their pieces.
WRITTEN = {
    "</s>": "</s>",
    r'"\U0001F600"': "\U0001f600",
    r'"\xE9\U0001F468\u200D"': "é\U0001f468\u200d",
    r'"\u2581\U00020000"': "▁\U00020000",
    r'"x\N\L\P\_y"': "x\x85\u2028\u2029\xa0y",
    r'"\ax\e\0"': "\x07x\x1b\0",
    r'"\\x42\e"': "\\x42\x1b",
    r"\x41": r"\x41",
    r"'\x43'": r"\x43",
    r"a\b": r"a\b",
    r'"\""': '"',
    "'null'": "null",
    "'it''s'": "it's",
}
ESCAPES = {
    **{r"\0": "\0", r"\a": "\a", r"\b": "\b", r"\t": "\t", r"\n": "\n", r"\v": "\v", r"\f": "\f", r"\r": "\r"},
    **{r"\e": "\x1b", r"\ ": " ", r"\"": '"', r"\/": "/", r"\\": "\\", r"\N": "\x85", r"\_": "\xa0"},
    **{r"\L": "\u2028", r"\P": "\u2029", r"\x41": "A", r"\u00e9": "é", r"\U0001F600": "\U0001f600"},
    r"\ud83d\ude00": "\U0001f600",
}


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}: {id}\n" for id, line in enumerate(lines)), encoding="utf-8")
    return path


def test_pieces_are_those_of_the_lines(tmp_path: Path) -> None:
    assert read_table(write(tmp_path / "vocab.yml", [*WRITTEN])) == tuple(WRITTEN.values())


@pytest.mark.parametrize("ascii", [True, False])
def test_pieces_are_those_that_json_writes(tmp_path: Path, ascii: bool) -> None:
    pieces = (*WRITTEN.values(), *ESCAPES.values())
    lines = [json.dumps(piece, ensure_ascii=ascii) for piece in pieces]
    assert read_table(write(tmp_path / "vocab.yml", lines)) == pieces


@pytest.mark.parametrize("escape", ESCAPES)
def test_every_escape_of_yaml_is_decoded(tmp_path: Path, escape: str) -> None:
    assert read_table(write(tmp_path / "vocab.yml", [f'"a{escape}z"'])) == (f"a{ESCAPES[escape]}z",)


@pytest.mark.parametrize("escape", [r"\q", r"\x4", r"\u12", r"\U00110000", r"\ud83d", r"\ude00\ud83d", r"\U0000d800"])
def test_other_escapes_are_refused(tmp_path: Path, escape: str) -> None:
    path = write(tmp_path / "vocab.yml", ["</s>", f'"a{escape}z"'])
    with pytest.raises(InteropError, match=r"vocab\.yml: line 2 has (the unknown|an) escape"):
        read_table(path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_long_pieces_have_two_lines(tmp_path: Path, end: str) -> None:
    path, pieces = tmp_path / "vocab.yml", ("</s>", "ab:" * 400, "_" * 130, "?")
    lines = ("</s>: 0", f'? "{pieces[1]}"', ": 1", f"? {pieces[2]}", ": 2", "?: 3", "")
    path.write_bytes(end.join(lines).encode())
    assert read_table(path) == pieces


@pytest.mark.parametrize("rest", ["", '"b": 1\n', ": one\n"])
def test_a_long_piece_without_its_id_is_refused(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "vocab.yml"
    path.write_text(f'</s>: 0\n? "a"\n{rest}')
    with pytest.raises(InteropError, match="line 2 is not `piece: id`"):
        read_table(path)


@pytest.mark.parametrize("content", ["</s>\n<unk>\n", '{"</s>": 0, "<unk>": 1}', "_lemma\n</s>\n"])
def test_vocabularies_of_other_formats_are_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text(content)
    expected = r"line 1 is not `piece: id`, as in vocabularies in \.yml; others are read as \.spm only"
    with pytest.raises(InteropError, match=expected):
        read_table(path)
