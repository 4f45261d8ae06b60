"""Translations of a whole text, made shard by shard: what was stopped goes on, and no line can slip from its own.

A shard is a file of JSON lines: {"lines": .., "sha256": ..} of all that follows, then [source, translation] for each
line of the text, in its order, blank ones too. Both sides stand in one line, so that they cannot come out of step.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from pocketmt.errors import DataError
from pocketmt.text.corpus import read_lines, read_pairs
from pocketmt.training.checkpoints import claim_folder
from pocketmt.whole_file import write_whole

LINES: Final = 1_000  # of a shard
TextPair = tuple[str, str]  # source, translation
# Lines, and a reference for each where there are any -> as many translations.
Translate = Callable[[Sequence[str], Sequence[str] | None], Sequence[str]]


class Claim(msgspec.Struct, frozen=True):
    """What a folder's translations are of, and by whom: text.json."""

    lines: int
    sha256: str  # of the lines, each with a line feed, hexadecimal
    lines_of_a_shard: int
    translator: dict[str, str | int]
    references_sha256: str = ""  # of the references' lines; empty where there are none


def translate_text(
    text: Path,
    folder: Path,
    translate: Translate,
    translator: dict[str, str | int],
    progress: Callable[[int, int], None] = lambda done, total: None,
    references: Path | None = None,
) -> Iterator[TextPair]:
    """Yield each line of a text with its translation, translating the shards that the folder does not hold yet.

    A shard that is not what its first line says, or not of the lines that belong there, is translated anew.

    Args:
        text: as `read_lines` reads it.
        folder: of this text's shards, made where it is missing.
        translate: lines, and their references or None -> as many translations.
        translator: what says who translates and how: translations by another are not taken for its own.
        progress: told how many lines are translated, of how many.
        references: translations of the text, line by line; what `translate` may choose by.

    Raises:
        ConfigurationError: the folder holds translations of another text, or by another translator.
        DataError: a text cannot be read, there are not as many references as lines, or `translate` gives more or fewer
            lines than it was given.
    """
    total, digest = measure(text)
    for _ in () if references is None else read_pairs(text, references):
        pass  # unequal numbers of lines are told before any work
    folder.mkdir(parents=True, exist_ok=True)
    claim = Claim(total, digest, LINES, translator, "" if references is None else digest_of(references))
    claim_folder(folder, "text.json", claim, "translation of another text or by another model")
    remaining = ((line, "") for line in read_lines(text)) if references is None else read_pairs(text, references)
    done = 0
    for number, rows in enumerate(iter(lambda: list(islice(remaining, LINES)), [])):
        lines = [line for line, _ in rows]
        shard = folder / f"{number:06d}.jsonl"
        pairs = _read(shard, lines)
        if pairs is None:
            translations = translate(lines, None if references is None else [reference for _, reference in rows])
            if len(translations) != len(lines):
                raise DataError(f"{text}: {len(lines)} lines were given {len(translations)} translations")
            pairs = list(zip(lines, translations, strict=True))
            _write(shard, pairs)
        done += len(lines)
        progress(done, total)
        yield from pairs


def digest_of(text: Path) -> str:
    """Return the SHA-256 of a text's lines, hexadecimal; DataError where it cannot be read."""
    return measure(text)[1]


def measure(text: Path) -> tuple[int, str]:
    """Return the number of lines of a text, and the SHA-256 of them, hexadecimal; DataError where it cannot be read."""
    digest, count = hashlib.sha256(), 0
    for line in read_lines(text):
        digest.update(line.encode() + b"\n")
        count += 1
    return count, digest.hexdigest()


def _write(shard: Path, pairs: Sequence[TextPair]) -> None:
    body = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs).encode()
    head = json.dumps({"lines": len(pairs), "sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
    with write_whole(shard) as stream:
        stream.write(head + body)


def _read(shard: Path, lines: Sequence[str]) -> list[TextPair] | None:
    """Return a shard's pairs; None where it is missing, damaged, or not of these lines."""
    if not shard.exists():
        return None
    head, _, body = shard.read_bytes().partition(b"\n")
    if head != json.dumps({"lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}).encode():
        return None
    pairs = [(source, translation) for source, translation in map(json.loads, body.splitlines())]
    return pairs if [source for source, _ in pairs] == list(lines) else None
