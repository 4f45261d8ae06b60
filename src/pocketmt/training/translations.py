"""Translation of a whole text in shards, which resumes after an interruption and keeps lines and translations paired.

A shard is a file of JSON lines. The first is {"lines": .., "sha256": ..} of all following lines. They are
[source, translation] for each line of the text, in order and with blank lines. Both sides share a line, so they cannot
lose their alignment.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from pocketmt.atomic_file import atomic_write
from pocketmt.chunks import in_chunks
from pocketmt.distributed.blocks import Block, Row, cut
from pocketmt.errors import DataError
from pocketmt.line_digest import LineDigest
from pocketmt.progress import Progress, no_progress
from pocketmt.text.corpus import read_lines, read_pairs
from pocketmt.text.formats.format import Languages, Side
from pocketmt.training.run_folder import read_settings, record_settings, remove_unfinished

LINES: Final = 1_000  # Number of lines in a shard.
SETTINGS: Final = "text.json"
TextPair = tuple[str, str]  # A line and its translation.
# Takes lines, and a reference for each or None; returns a translation of each line.
Translate = Callable[[Sequence[str], Sequence[str] | None], Sequence[str]]
# Takes blocks of rows, (line,) or (line, reference), and a function to be called with the translations of each.
TranslateBlocks = Callable[[Iterator[Block], Callable[[Block, Sequence[str]], None]], None]


class TranslationFingerprint(msgspec.Struct, frozen=True):
    """The text and the translator of a folder's translations, stored in text.json."""

    lines: int
    sha256: str  # Hexadecimal hash of the lines, each with a line feed.
    lines_of_a_shard: int
    translator: dict[str, str | int]
    references_sha256: str = ""  # The same of the references; empty without references.


def translate_text(
    text: Path,
    folder: Path,
    translate: Translate,
    translator: dict[str, str | int],
    progress: Progress = no_progress,
    references: Path | None = None,
    languages: Languages | None = None,
    translate_blocks: TranslateBlocks | None = None,
    lines_at_once: int = 1,
    side: Side = "source",
) -> Iterator[TextPair]:
    """Yield each line of a text with its translation, translating the shards that the folder does not hold yet.

    A shard is translated again if it does not match its first line or holds other lines of the text.

    Args:
        text: the text, which `read_lines` reads.
        folder: folder of the shards of this text, created if it is missing.
        translate: takes lines, and their references or None, and returns a translation of each line.
        translator: identifies the translator and its settings; translations by another one are refused.
        progress: called with the number of translated lines and the number of all lines.
        references: reference translations of the text, line by line, for `translate` to choose by.
        languages: of the source and the target side of the files, which `read_lines` needs for TMX.
        translate_blocks: translates all missing shards at once, in any order, instead of `translate`.
        lines_at_once: a good number of lines for a call of `translate`, which takes whole shards: as many as have no
            more lines than this, at least one. After an interruption, those of one call are translated again.
        side: of the text; its references are of the other side.

    Raises:
        ConfigurationError: the folder holds translations of another text, or by another translator.
        DataError: a text cannot be read, the numbers of lines and references differ, or `translate` returns another
            number of lines than it was given.
    """
    total, digest = count_and_hash_lines(text, side, languages)
    for _ in () if references is None else _rows(text, references, side, languages):
        pass  # Unequal numbers of lines are reported before any work starts.
    references_digest = ""
    if references is not None:
        references_digest = count_and_hash_lines(references, other_side(side), languages)[1]
    fingerprint = TranslationFingerprint(total, digest, LINES, translator, references_digest)
    with _shards_folder(folder):
        _record(fingerprint, folder)
        if translate_blocks is not None:
            rows = _rows(text, references, side, languages)
            _translate_missing(rows, folder, translate_blocks, lambda done: progress(done, total))
        rows = _rows(text, references, side, languages)
        count = max(1, lines_at_once // LINES)
        yield from _translate_shards(rows, folder, translate, count, lambda done: progress(done, total))


def _record(fingerprint: TranslationFingerprint, folder: Path) -> None:
    """Record what is translated and how; ConfigurationError if the folder holds another translation.

    Folders of earlier versions record fewer settings of the translator; only settings that both have are compared.
    """
    earlier = read_settings(folder / SETTINGS, TranslationFingerprint)
    common = fingerprint.translator.keys() & (fingerprint if earlier is None else earlier).translator.keys()

    def compared(each: TranslationFingerprint) -> TranslationFingerprint:
        translator = {name: value for name, value in each.translator.items() if name in common}
        return msgspec.structs.replace(each, translator=translator)

    other = "translation of another text, by another model or with other settings"
    record_settings(folder, SETTINGS, fingerprint, other, compared)


def other_side(side: Side) -> Side:
    """Return the side that translations of a side are of."""
    return "target" if side == "source" else "source"


def _rows(text: Path, references: Path | None, side: Side, languages: Languages | None) -> Iterator[Row]:
    if references is None:
        return ((line,) for line in read_lines(text, side, languages))
    if side == "source":
        return read_pairs(text, references, languages)
    return ((line, reference) for reference, line in read_pairs(references, text, languages))


@contextmanager
def _shards_folder(folder: Path) -> Iterator[None]:
    """Create a folder of shards if it is missing. As long as it holds no shard, it belongs to no text.

    Unlike `run_folder`, this locks nothing: the folder is in that of a compression or distillation, which is locked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    remove_unfinished(folder, (SETTINGS, "*.jsonl"))
    try:
        if not any(folder.glob("*.jsonl")):
            (folder / SETTINGS).unlink(missing_ok=True)
        yield
    except BaseException:
        if not any(folder.glob("*.jsonl")):
            (folder / SETTINGS).unlink(missing_ok=True)
            with suppress(OSError):  # It holds files of the user.
                folder.rmdir()
        raise


def _translate_shards(
    rows: Iterator[Row], folder: Path, translate: Translate, count: int, progress: Callable[[int], None]
) -> Iterator[TextPair]:
    """Yield each line with its translation.

    Args:
        rows: the lines with their references, if any.
        folder: of the shards.
        translate: see `translate_text`.
        count: number of shards that are read, and translated in one call if they are missing.
        progress: called with the number of translated lines.
    """
    done = 0
    for group in in_chunks(cut(rows, LINES), count):
        found = {block.number: _read(_shard(folder, block), [row[0] for row in block.rows]) for block in group}
        missing = [block for block in group if found[block.number] is None]
        translations = iter(_translate_blocks(missing, translate))
        for block in group:
            pairs = found[block.number]
            if pairs is None:
                pairs = _paired(block, list(islice(translations, len(block.rows))))
                _write(_shard(folder, block), pairs)
            done += len(pairs)
            progress(done)
            yield from pairs


def _translate_blocks(blocks: Sequence[Block], translate: Translate) -> Sequence[str]:
    """Return the translations of the lines of blocks, from one call; DataError if their number is another one."""
    if not blocks:
        return ()
    rows = [row for block in blocks for row in block.rows]
    translations = translate([row[0] for row in rows], [row[1] for row in rows if len(row) > 1] or None)
    _check_number(len(rows), translations)
    return translations


def _translate_missing(
    rows: Iterator[Row], folder: Path, translate_blocks: TranslateBlocks, progress: Callable[[int], None]
) -> None:
    """Write the shards that are missing or damaged, in any order."""
    done = 0

    def missing() -> Iterator[Block]:
        nonlocal done
        for block in cut(rows, LINES):
            if _read(_shard(folder, block), [row[0] for row in block.rows]) is None:
                yield block
            else:
                done += len(block.rows)

    def store(block: Block, translations: Sequence[str]) -> None:
        nonlocal done
        _write(_shard(folder, block), _paired(block, translations))
        done += len(block.rows)
        progress(done)

    translate_blocks(missing(), store)


def _shard(folder: Path, block: Block) -> Path:
    return folder / f"{block.number:06d}.jsonl"


def _paired(block: Block, translations: Sequence[str]) -> list[TextPair]:
    _check_number(len(block.rows), translations)
    return [(row[0], translation) for row, translation in zip(block.rows, translations, strict=True)]


def _check_number(lines: int, translations: Sequence[str]) -> None:
    if len(translations) != lines:
        raise DataError(f"{lines} lines were given {len(translations)} translations, expected one for each")


def hash_lines(text: Path, side: Side = "source", languages: Languages | None = None) -> str:
    """Return the hexadecimal SHA-256 of the lines of a text; DataError if it cannot be read."""
    return count_and_hash_lines(text, side, languages)[1]


def count_and_hash_lines(text: Path, side: Side = "source", languages: Languages | None = None) -> tuple[int, str]:
    """Return the number of lines of a text and their hexadecimal SHA-256; DataError if the text cannot be read."""
    digest = LineDigest()
    for line in read_lines(text, side, languages):
        digest.add(line)
    return digest.lines, digest.hexdigest()


def _write(shard: Path, pairs: Sequence[TextPair]) -> None:
    body = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs).encode()
    head = json.dumps({"lines": len(pairs), "sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
    with atomic_write(shard) as stream:
        stream.write(head + body)


def _read(shard: Path, lines: Sequence[str]) -> list[TextPair] | None:
    """Return the pairs of a shard; None if it is missing, damaged, or of other lines."""
    if not shard.exists():
        return None
    head, _, body = shard.read_bytes().partition(b"\n")
    if head != json.dumps({"lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}).encode():
        return None
    pairs = [(source, translation) for source, translation in map(json.loads, body.splitlines())]
    return pairs if [source for source, _ in pairs] == list(lines) else None
