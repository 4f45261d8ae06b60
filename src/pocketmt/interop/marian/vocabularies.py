"""The vocabularies of Marian models: SentencePiece's own ids, or a table of ids in YAML."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sentencepiece

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.marian.description import VocabularyFacts
from pocketmt.interop.marian.files import MarianFiles
from pocketmt.interop.marian.yaml_strings import unquoted
from pocketmt.interop.opus_codes import opus_languages
from pocketmt.interop.sentencepiece_file import read_sentencepiece, sentencepiece_of
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary

MAXIMUM_TABLE: Final = 64 << 20  # bytes
_EOS: Final = "</s>"
_UNKNOWN: Final = "<unk>"
# Bytes that a model with byte pieces could write, and Marian never does.
_CONTROL: Final = tuple(f"<0x{code:02X}>" for code in range(32))
_ENTRY: Final = re.compile(r"(\S.*?)\s*:\s+([0-9]{1,9})\s*")
_LONG_KEY: Final = re.compile(r"\?\s+(\S.*)")  # whose id is on the next line, after a colon


def read_vocabularies(files: MarianFiles) -> tuple[StoredVocabularies, VocabularyFacts]:
    """Return the vocabularies of a model; raises InteropError if one is damaged or lacks `</s>` or `<unk>`."""
    if files.sentencepiece is None:
        return _own_ids(files)
    tables = [read_table(path) for path in files.vocabularies]
    sides = [
        StoredVocabulary(read_sentencepiece(model), pieces, "none", language_codes=opus_languages(pieces) is not None)
        for model, pieces in zip(files.sentencepiece, tables, strict=True)
    ]
    eos, unknown = (
        tuple(_id_in(path, table, piece) for path, table in zip(files.vocabularies, tables, strict=True))
        for piece in (_EOS, _UNKNOWN)
    )
    shared = sides[0] == sides[1]
    facts = VocabularyFacts(
        (len(tables[0]), len(tables[1])),
        (eos[0], eos[1]),
        (unknown[0], unknown[1]),
        shared,
    )
    return StoredVocabularies(sides[0], None if shared else sides[1]), facts


def _own_ids(files: MarianFiles) -> tuple[StoredVocabularies, VocabularyFacts]:
    models = [read_sentencepiece(path) for path in files.vocabularies]
    loaded = [sentencepiece_of(path, model) for path, model in zip(files.vocabularies, models, strict=True)]
    for path, processor in zip(files.vocabularies, loaded, strict=True):
        if processor.eos_id() < 0:
            raise InteropError(f"{path}: has no piece for the end of a sentence")
    shared = models[0] == models[1]
    facts = VocabularyFacts(
        (loaded[0].GetPieceSize(), loaded[1].GetPieceSize()),
        (loaded[0].eos_id(), loaded[1].eos_id()),
        (loaded[0].unk_id(), loaded[1].unk_id()),
        shared,
        tuple(sorted(_control_pieces(loaded[1]))),
    )
    sides = [StoredVocabulary(model, normalization="none") for model in models]
    return StoredVocabularies(sides[0], None if shared else sides[1]), facts


def notes_on_languages(source: StoredVocabulary) -> tuple[str, ...]:
    """Return a note if a SentencePiece model finds codes of languages in text, which must then begin with one.

    A model file cannot choose them: SentencePiece gives a code at the beginning of a text a piece for a space, too.
    """
    if source.pieces is not None:
        return ()
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(source.model)
    codes = opus_languages(_readable_pieces(processor))
    example = next(iter(codes.target.values())) if codes is not None else ""
    if not example or processor.PieceToId(example) not in processor.EncodeAsIds(f"{example} a"):
        return ()
    return (
        f"the vocabulary has codes of languages: begin each sentence with one, such as {example}, because "
        "--target-language does not choose it",
    )


def _readable_pieces(processor: "sentencepiece.SentencePieceProcessor") -> Iterator[str]:
    for id in range(processor.GetPieceSize()):
        try:
            yield processor.IdToPiece(id)
        except UnicodeDecodeError:  # No code is such a piece.
            continue


def never_generated(side: Vocabulary) -> set[int]:
    """Return the ids of control characters, which Marian never generates from a SentencePiece model."""
    found = set() if side.stored.pieces is not None else {side.id(piece) for piece in _CONTROL}
    return {id for id in found if id is not None}


def _control_pieces(processor: "sentencepiece.SentencePieceProcessor") -> set[int]:
    return {int(processor.PieceToId(piece)) for piece in _CONTROL} - {processor.unk_id()}


def read_table(path: Path) -> tuple[str, ...]:
    """Return the pieces of a table of lines `piece: id`, by id. Long pieces may be two lines, `? piece` and `: id`.

    Pieces may be in quotation marks. YAML's own rules are not used: they would make numbers and truth values of pieces.
    Raises InteropError naming the line that is anything else or has an unknown escape, or if ids are not 0, 1, 2 ...
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAXIMUM_TABLE + 1)
        text = content.decode("utf-8")
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    except UnicodeDecodeError as error:
        raise InteropError(f"{path}: not UTF-8") from error
    if len(content) > MAXIMUM_TABLE:
        raise InteropError(f"{path}: has more than {MAXIMUM_TABLE} bytes")
    pieces: dict[int, str] = {}
    # Not splitlines: pieces may be separators of lines that Unicode has.
    lines = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
    for number, line in lines:
        if not line:
            continue
        entry = _ENTRY.fullmatch(line)
        if entry is None and (key := _LONG_KEY.fullmatch(line)) is not None:
            value = next(lines, (number, ""))[1]
            entry = _ENTRY.fullmatch(key[1] + value) if value.startswith(":") else None
        if entry is None:
            raise InteropError(
                f"{path}: line {number} is not `piece: id`, as in vocabularies in .yml; others are read as .spm only"
            )
        try:
            piece, id = unquoted(entry[1]), int(entry[2])
        except ValueError as error:
            raise InteropError(f"{path}: line {number} has {error}") from error
        if id in pieces:
            raise InteropError(f"{path}: line {number}: id {id} is there twice")
        pieces[id] = piece
    if not pieces or max(pieces) != len(pieces) - 1:
        raise InteropError(f"{path}: its {len(pieces)} ids are not 0, 1, 2, ...")
    return tuple(pieces[id] for id in range(len(pieces)))


def _id_in(path: Path, table: tuple[str, ...], piece: str) -> int:
    if piece not in table:
        raise InteropError(f"{path}: lacks the special piece {piece!r}")
    return table.index(piece)
