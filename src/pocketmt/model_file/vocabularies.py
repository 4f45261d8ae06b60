"""The vocabularies of a model file: members of its manifest, and tensors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from pocketmt.errors import ModelFileError
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.container.xz_tensor import ENCODING, check_encoding, compress, decompress
from pocketmt.model_file.members import check_members
from pocketmt.text.stored_vocabulary import (
    NORMALIZATIONS,
    Normalization,
    StoredVocabularies,
    StoredVocabulary,
)

if TYPE_CHECKING:  # SentencePiece is loaded when a vocabulary is.
    from pocketmt.text.vocabulary import Vocabularies

VOCABULARY: Final = "vocabulary"  # of the source, or of both sides
TARGET_VOCABULARY: Final = "target_vocabulary"
MAXIMUM_BYTES: Final = 64 << 20  # of a SentencePiece model, and of an id table
MOST_VERBATIM: Final = 4096
LONGEST_VERBATIM: Final = 256  # characters
_SAME_TABLE: Final = "source"
_END: Final = "\0"  # of a piece in a table
_REQUIRED: Final = ("encoding", "bytes", "normalization")
_OPTIONAL: Final = ("table", "verbatim", "language_codes")


class VocabularyEntry(NamedTuple):
    """The manifest's entry of one side.

    Attributes:
        tensor: name of the tensor with the SentencePiece model.
        bytes: of the model.
        table_tensor: name of the tensor with the id table; None: there is no table.
        table_bytes: of the table.
        pieces: how many ids the table must have.
    """

    tensor: str
    bytes: int
    normalization: Normalization
    table_tensor: str | None
    table_bytes: int
    pieces: int
    verbatim: tuple[str, ...]
    language_codes: bool

    def read(self, tensors: Mapping[str, memoryview]) -> StoredVocabulary:
        """Decompress the vocabulary; raises ModelFileError if a tensor does not hold what the manifest states."""
        table = None
        if self.table_tensor is not None:
            content = decompress(self.table_tensor, tensors[self.table_tensor], self.table_bytes)
            table = _pieces(self.table_tensor, content, self.pieces)
        return StoredVocabulary(
            decompress(self.tensor, tensors[self.tensor], self.bytes),
            table,
            self.normalization,
            self.verbatim,
            self.language_codes,
        )


class VocabularyEntries(NamedTuple):
    """The manifest's entries of the source and, unless both sides share one, of the target."""

    source: VocabularyEntry
    target: VocabularyEntry | None

    @property
    def tensors(self) -> tuple[str, ...]:
        """Names of the tensors with vocabularies; each is a row of bytes."""
        entries = (self.source,) if self.target is None else (self.source, self.target)
        names = [name for entry in entries for name in (entry.tensor, entry.table_tensor) if name is not None]
        return tuple(dict.fromkeys(names))

    def read(self, tensors: Mapping[str, memoryview]) -> StoredVocabularies:
        """Decompress the vocabularies; raises ModelFileError as `VocabularyEntry.read` does."""
        return StoredVocabularies(self.source.read(tensors), None if self.target is None else self.target.read(tensors))


def table_name(vocabulary: str) -> str:
    """Return the name of the tensor with the id table of a vocabulary."""
    return f"{vocabulary}.table"


def vocabularies_from_json(manifest: Mapping[str, object], architecture: Architecture) -> VocabularyEntries:
    """Read the manifest's members `vocabulary` and `target_vocabulary`; raises ModelFileError naming what is wrong."""
    separate = architecture.vocabularies == "separate"
    if separate != (TARGET_VOCABULARY in manifest):
        state = "is missing" if separate else "is there"
        raise ModelFileError(
            f"manifest: {TARGET_VOCABULARY} {state}, but the architecture's vocabularies are "
            f"{architecture.vocabularies!r}"
        )
    source = _entry(manifest[VOCABULARY], VOCABULARY, architecture.source_size, None)
    target = None
    if separate:
        target = _entry(manifest[TARGET_VOCABULARY], TARGET_VOCABULARY, architecture.vocabulary_size, source)
    return VocabularyEntries(source, target)


def vocabulary_members(stored: StoredVocabularies) -> dict[str, object]:
    """Return the manifest's members of these vocabularies."""
    members: dict[str, object] = {VOCABULARY: _to_json(stored.source, same_table=False)}
    if stored.target is not None:
        same = stored.target.pieces is not None and stored.target.pieces == stored.source.pieces
        members[TARGET_VOCABULARY] = _to_json(stored.target, same_table=same)
    return members


def vocabulary_tensors(stored: StoredVocabularies) -> dict[str, bytes]:
    """Return the content of the tensors of these vocabularies; raises ModelFileError if a piece cannot be stored."""
    tensors = {VOCABULARY: compress(stored.source.model)}
    if stored.source.pieces is not None:
        tensors[table_name(VOCABULARY)] = compress(_table(stored.source.pieces))
    if stored.target is not None:
        tensors[TARGET_VOCABULARY] = compress(stored.target.model)
        if stored.target.pieces is not None and stored.target.pieces != stored.source.pieces:
            tensors[table_name(TARGET_VOCABULARY)] = compress(_table(stored.target.pieces))
    return tensors


def load_checked(stored: StoredVocabularies, architecture: Architecture) -> "Vocabularies":
    """Load the vocabularies of a model.

    Raises:
        ModelFileError: there are not as many as the architecture says, or one has not as many pieces.
        DataError: a SentencePiece model or an id table is invalid, or has other special pieces.
    """
    from pocketmt.text.vocabulary import load_vocabularies

    separate = architecture.vocabularies == "separate"
    if separate != (stored.target is not None):
        number = "two vocabularies" if stored.target is not None else "one vocabulary"
        raise ModelFileError(
            f"there {'are' if separate else 'is'} {number}, but the architecture's are {architecture.vocabularies!r}"
        )
    found = load_vocabularies(stored, architecture.source_special_ids, architecture.special_ids)
    expected = architecture.source_size, architecture.vocabulary_size
    for side, vocabulary, size in zip(("source", "target"), (found.source, found.target), expected, strict=True):
        if len(vocabulary) != size:
            name = f"{side} vocabulary" if separate else "vocabulary"
            raise ModelFileError(
                f"the {name} has {len(vocabulary)} pieces, but the model {size}: give the model's vocabulary"
            )
    return found


def _entry(value: object, name: str, size: int, source: VocabularyEntry | None) -> VocabularyEntry:
    where = f"manifest: {name}"
    if not isinstance(value, dict):
        raise ModelFileError(f"{where} is not an object")
    check_members(value, _REQUIRED, where, _OPTIONAL)
    check_encoding(value["encoding"], where)
    if value["normalization"] not in NORMALIZATIONS:
        expected = " or ".join(map(repr, NORMALIZATIONS))
        raise ModelFileError(f"{where}: normalization is {value['normalization']!r:.40}, expected {expected}")
    tensor, size_of_table = None, 0
    if "table" in value:
        tensor, size_of_table = _table_entry(value["table"], name, source)
    elif "verbatim" in value or "language_codes" in value:
        raise ModelFileError(f"{where}: verbatim and language_codes need a table")
    return VocabularyEntry(
        name,
        _bytes(value["bytes"], where),
        value["normalization"],
        tensor,
        size_of_table,
        size,
        _verbatim(value.get("verbatim", ()), where),
        _language_codes(value.get("language_codes", False), where),
    )


def _table_entry(value: object, name: str, source: VocabularyEntry | None) -> tuple[str, int]:
    where = f"manifest: {name}: table"
    if source is not None and value == _SAME_TABLE:
        if source.table_tensor is None:
            raise ModelFileError(f"{where} is that of the source, which has none")
        return source.table_tensor, source.table_bytes
    if not isinstance(value, dict) or set(value) != {"encoding", "bytes"}:
        raise ModelFileError(f"{where}: expected exactly encoding and bytes")
    check_encoding(value["encoding"], where)
    return table_name(name), _bytes(value["bytes"], where)


def _bytes(value: object, where: str) -> int:
    if type(value) is not int or not 1 <= value <= MAXIMUM_BYTES:
        raise ModelFileError(f"{where}: bytes is {value!r:.40}, expected a whole number from 1 to {MAXIMUM_BYTES}")
    return value


def _verbatim(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_VERBATIM:
        raise ModelFileError(f"{where}: verbatim is not a list of 1 to {MOST_VERBATIM} pieces")
    for piece in value:
        if not isinstance(piece, str) or not 1 <= len(piece) <= LONGEST_VERBATIM:
            raise ModelFileError(
                f"{where}: verbatim has {piece!r:.40}, expected strings of 1 to {LONGEST_VERBATIM} characters"
            )
    return tuple(value)


def _language_codes(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ModelFileError(f"{where}: language_codes is {value!r:.40}, expected true or false")
    return value


def _to_json(stored: StoredVocabulary, same_table: bool) -> dict[str, object]:
    entry: dict[str, object] = {
        "encoding": ENCODING,
        "bytes": len(stored.model),
        "normalization": stored.normalization,
    }
    if same_table:
        entry["table"] = _SAME_TABLE
    elif stored.pieces is not None:
        entry["table"] = {"encoding": ENCODING, "bytes": len(_table(stored.pieces))}
    if stored.verbatim:
        entry["verbatim"] = list(stored.verbatim)
    if stored.language_codes:
        entry["language_codes"] = True
    return entry


def _table(pieces: tuple[str, ...]) -> bytes:
    for id, piece in enumerate(pieces):
        if _END in piece:
            raise ModelFileError(f"piece {id} of the id table has a null character, which a model file cannot hold")
    try:
        return "".join(piece + _END for piece in pieces).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelFileError(f"the id table has a piece that is no text: {error}") from error


def _pieces(tensor: str, content: bytes, size: int) -> tuple[str, ...]:
    if content.count(b"\0") != size or not content.endswith(b"\0"):
        raise ModelFileError(f"tensor {tensor!r} does not hold {size} pieces that each end in a null character")
    try:
        return tuple(content[:-1].decode("utf-8").split(_END))
    except UnicodeDecodeError as error:
        raise ModelFileError(f"tensor {tensor!r} is not UTF-8: {error}") from error
