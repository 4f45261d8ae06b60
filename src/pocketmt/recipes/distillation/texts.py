"""Synthetic parallel text: plain text beside the teachers' translations of it, with a record of where it came from."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from pocketmt import __version__
from pocketmt.errors import DataError
from pocketmt.recipes.distillation.teachers import Teachers
from pocketmt.text.corpus import check_rereadable, write_pairs
from pocketmt.training.translations import TextPair, measure, translate_text
from pocketmt.whole_file import write_whole

RECORD: Final = ".distillation.json"  # of the outputs, beside the first of them
Progress = Callable[[int, int], None]  # lines translated, of how many


@dataclass(frozen=True)
class Text:
    """What is translated: plain text, or the source side of parallel text whose target side is picked by."""

    lines: Path
    references: Path | None = None


class TextRecord(msgspec.Struct, frozen=True):
    """One side of a text, in a record: its file's path as it was given, its lines, their SHA-256, hexadecimal."""

    path: str
    lines: int
    sha256: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Where synthetic text came from; the texts follow one another in the outputs, line by line."""

    producer: str
    teachers: list[dict[str, str]]  # name, sha256
    languages: dict[str, str]  # of the outputs: source, target
    synthetic_side: str  # "target", or "source" of back-translations
    beam_size: int
    n_best: int
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
    progress: Progress = lambda done, total: None,
) -> Record:
    """Write texts and the teachers' translations of them as two parallel files, and beside the first a record.

    Every line of every text has its place, blank ones too. The files appear at the end, whole; what was stopped
    meanwhile goes on with the next thousand lines.

    Args:
        teachers: who translates.
        texts: what, in this order.
        source: the file of the source side.
        target: the file of the target side.
        folder: of the translations so far, made where it is missing.
        back_translation: the texts are the target side, and what is written is the source side: the teachers translate
            from the target language of the students to their source language.
        progress: told how far a text is.

    Raises as `translate_text` and `write_pairs` do; DataError where texts hold no line, are pipes, or change meanwhile.
    """
    for path in (path for text in texts for path in (text.lines, text.references) if path is not None):
        check_rereadable(path)
    read = [_record(text.lines) for text in texts]
    references = [None if text.references is None else _record(text.references) for text in texts]
    if not any(text.lines for text in read):
        raise DataError(f"{texts[0].lines}: there is no line to translate")
    digests = hashlib.sha256(), hashlib.sha256()
    count = 0
    with write_pairs(source, target) as write:
        for pair in _translate(teachers, texts, folder, progress):
            sides = pair[::-1] if back_translation else pair
            write(*sides)
            for digest, line in zip(digests, sides, strict=True):
                digest.update(line.encode() + b"\n")
            count += 1
        if count != sum(text.lines for text in read):
            raise DataError(f"{', '.join(text.path for text in read)}: changed while being read: call it again")
    spoken = (teachers.languages["source"], teachers.languages["target"])
    record = Record(
        producer=f"pocketmt {__version__}",
        teachers=[{"name": model.name, "sha256": model.digest} for model in teachers.models],
        languages=dict(zip(("source", "target"), spoken[::-1] if back_translation else spoken, strict=True)),
        synthetic_side="source" if back_translation else "target",
        beam_size=teachers.beam_size,
        n_best=teachers.n_best,
        texts=read,
        references=references,
        source=TextRecord(str(source), count, digests[0].hexdigest()),
        target=TextRecord(str(target), count, digests[1].hexdigest()),
    )
    with write_whole(source.with_name(source.name + RECORD)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return record


def _translate(teachers: Teachers, texts: Sequence[Text], folder: Path, progress: Progress) -> Iterator[TextPair]:
    for number, text in enumerate(texts):
        shards = folder / f"{number:03d}"
        yield from translate_text(
            text.lines, shards, teachers.translate, teachers.identity, progress, references=text.references
        )


def _record(path: Path) -> TextRecord:
    lines, digest = measure(path)
    return TextRecord(str(path), lines, digest)
