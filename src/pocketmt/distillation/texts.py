"""Synthetic parallel text: text and the teachers' translations of it, with a record of their sources."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from pocketmt import __version__
from pocketmt.atomic_file import check_output, remove_unfinished_outputs
from pocketmt.distillation.teachers import Teachers
from pocketmt.engine.copied_lines import CopiedLines
from pocketmt.errors import DataError
from pocketmt.folder_lock import locked
from pocketmt.line_digest import LineDigest
from pocketmt.progress import Progress, no_progress
from pocketmt.text.corpus import check_rereadable, write_pairs
from pocketmt.text.formats.format import Languages, Side
from pocketmt.training.run_folder import remove_unfinished, write_json
from pocketmt.training.translations import (
    TextPair,
    TranslateBlocks,
    count_and_hash_lines,
    other_side,
    translate_text,
)

RECORD: Final = ".distillation.json"  # Suffix of the record, added to the name of the source side.


@dataclass(frozen=True)
class Text:
    """Text to translate, with optional reference translations to choose among several translations."""

    lines: Path
    references: Path | None = None


class TextRecord(msgspec.Struct, frozen=True):
    """A file of text in a record: its path or address as given, its number of lines, and their hexadecimal SHA-256.

    Bytes of a path that are no characters are question marks.
    """

    path: str
    lines: int
    sha256: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of synthetic text. The outputs hold the texts one after another, line by line."""

    producer: str
    teachers: list[dict[str, str]]  # "name" and "sha256" of each.
    languages: dict[str, str]  # Of the outputs: "source" and "target".
    synthetic_side: str  # "target", or "source" for back-translations.
    beam_size: int
    n_best: int
    device: str  # Of the last session, in a pipeline.
    precision: str  # The same.
    texts: list[TextRecord]
    references: list[TextRecord | None]
    source: TextRecord
    target: TextRecord


def distill(
    teachers: Teachers,
    texts: Sequence[Text],
    source: Path,
    target: Path,
    folder: Path,
    *,
    back_translation: bool = False,
    progress: Progress = no_progress,
    translate_blocks: TranslateBlocks | None = None,
    names: Mapping[Path, str] | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> Record:
    """Write texts and the teachers' translations of them as two parallel files, with a record next to the first.

    The outputs hold every line of every text, also blank ones. They appear at the end, complete. An interrupted call
    resumes with the next thousand lines, on a GPU with the next four thousand.

    Args:
        teachers: the models that translate.
        texts: the texts, in the order of the outputs; of a parallel format, one side is translated.
        source, target: files of the two sides, to be written.
        folder: folder of the finished translations, created if it is missing.
        back_translation: whether the texts are the target side, from whose language the teachers then translate.
        progress: called with the progress in each text.
        translate_blocks: see `translate_text`.
        names: of files in the record, such as the addresses that they are copies of; None: their paths.
        warn: told how many lines were copied instead of translated.

    Raises DataError if the texts hold no line, are pipes, or change; LockedError if another process is working in the
    folder; and as `translate_text` and `write_pairs` do.
    """
    side: Side = "target" if back_translation else "source"
    languages = _languages(teachers, side)
    read, references = _read(texts, side, languages, names or {})
    recorded = source.with_name(source.name + RECORD)
    for path in (source, target):  # Locking the folder would create those above it.
        check_output(path)
    with _work_folder(folder, teachers.packed_files):
        remove_unfinished_outputs(source, target, recorded)
        pairs = _translate(teachers, texts, side, folder, progress, translate_blocks)
        copied = CopiedLines(teachers.vocabularies, _languages(teachers, "source"), teachers.models[0].unit)
        written = _write_sides(pairs, (source, target), read, back_translation, copied)
        record = Record(
            producer=f"pocketmt {__version__}",
            teachers=[{"name": _encodable(model.name), "sha256": model.digest} for model in teachers.models],
            languages=dict(zip(("source", "target"), languages, strict=True)),
            synthetic_side=other_side(side),
            beam_size=teachers.beam_size,
            n_best=teachers.n_best,
            **teachers.computed_by,
            texts=read,
            references=references,
            source=written[0],
            target=written[1],
        )
        write_json(recorded, record, end="\n")
    copied.report(written[0].path, "remove or divide such lines of the text, or leave out these pairs", warn)
    return record


def _write_sides(
    pairs: Iterator[TextPair],
    outputs: tuple[Path, Path],
    read: Sequence[TextRecord],
    back_translation: bool,
    copied: CopiedLines,
) -> list[TextRecord]:
    """Write lines with their translations as two parallel files; returns records of the files.

    Raises DataError if their number is not that of the lines that were read before, and as `write_pairs` does.
    """
    digests = LineDigest(), LineDigest()
    with write_pairs(*outputs) as write:
        for pair in pairs:
            copied.add(*pair)
            sides = pair[::-1] if back_translation else pair
            write(*sides)
            for digest, line in zip(digests, sides, strict=True):
                digest.add(line)
        if digests[0].lines != sum(text.lines for text in read):
            raise DataError(f"{', '.join(text.path for text in read)}: changed while being read: run the command again")
    return [
        TextRecord(_encodable(str(path)), digest.lines, digest.hexdigest())
        for path, digest in zip(outputs, digests, strict=True)
    ]


def _languages(teachers: Teachers, side: Side) -> Languages:
    """Return the languages of the outputs, where the texts are a side; teachers translate from that side."""
    languages = teachers.languages["source"], teachers.languages["target"]
    return languages if side == "source" else languages[::-1]


def _read(
    texts: Sequence[Text], side: Side, languages: Languages, names: Mapping[Path, str]
) -> tuple[list[TextRecord], list[TextRecord | None]]:
    """Return records of the texts and their references; DataError if they hold no line or cannot be read again."""
    for path in (path for text in texts for path in (text.lines, text.references) if path is not None):
        check_rereadable(path)
    read = [_record(text.lines, side, languages, names) for text in texts]
    other = other_side(side)
    references = [
        None if text.references is None else _record(text.references, other, languages, names) for text in texts
    ]
    if not any(text.lines for text in read):
        raise DataError(f"{texts[0].lines}: there is no line to translate")
    return read, references


@contextmanager
def _work_folder(folder: Path, packed: Sequence[Path]) -> Iterator[None]:
    """Lock the folder of a distillation; after an error before its first shard, remove the packed teachers."""
    with locked(folder):
        remove_unfinished(folder, [path.name for path in packed])
        try:
            yield
        except BaseException:
            if not any(folder.glob("*/*.jsonl")):
                for path in packed:
                    path.unlink(missing_ok=True)
            raise


def _translate(
    teachers: Teachers,
    texts: Sequence[Text],
    side: Side,
    folder: Path,
    progress: Progress,
    translate_blocks: TranslateBlocks | None,
) -> Iterator[TextPair]:
    for number, text in enumerate(texts):
        shards = folder / f"{number:03d}"
        yield from translate_text(
            text.lines,
            shards,
            teachers.translate,
            teachers.identity,
            progress,
            references=text.references,
            languages=_languages(teachers, side),
            translate_blocks=translate_blocks,
            lines_at_once=teachers.lines_at_once,
            side=side,
        )


def _record(path: Path, side: Side, languages: Languages, names: Mapping[Path, str]) -> TextRecord:
    lines, digest = count_and_hash_lines(path, side, languages)
    return TextRecord(_encodable(names.get(path, str(path))), lines, digest)


def _encodable(path: str) -> str:
    return path.encode(errors="replace").decode()
