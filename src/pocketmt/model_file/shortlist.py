"""The lexical shortlist in a model file, as the runtime reads it (Behnke et al. 2021, section 3)."""

from typing import Final, NamedTuple

from pocketmt.errors import ModelFileError
from pocketmt.model_file.container.stream_writer import StoredTensor
from pocketmt.model_file.container.xz_tensor import ENCODING, check_encoding, decompress

MOST_TARGETS: Final = 255  # of one source piece: the count is a byte
SHORTLIST_TENSOR: Final = "shortlist"
MAXIMUM_SHORTLIST_BYTES: Final = 64 << 20


class StoredShortlist(NamedTuple):
    """The manifest's entry: bytes of the decompressed shortlist, and number of pieces in the list of every sentence."""

    bytes: int
    frequent: int

    def to_json(self) -> dict[str, object]:
        """Return the manifest's entry."""
        return {"encoding": ENCODING, "bytes": self.bytes, "frequent": self.frequent}


class CompressedShortlist(NamedTuple):
    """The shortlist of a model file as it is stored: the manifest's entry, and the tensor."""

    entry: StoredShortlist
    content: bytes


def stored_shortlist(
    shortlist: CompressedShortlist | None,
) -> tuple[dict[str, object], dict[str, StoredTensor]]:
    """Return the member of the manifest and the tensor, by name; None: a file without a shortlist."""
    if shortlist is None:
        return {}, {}
    tensor = StoredTensor("U8", (len(shortlist.content),), shortlist.content)
    return {"shortlist": shortlist.entry.to_json()}, {SHORTLIST_TENSOR: tensor}


def shortlist_from_json(value: object, vocabulary_size: int) -> StoredShortlist:
    """Read the manifest's member `shortlist`, of a target of this size; raises ModelFileError naming what is wrong."""
    where = "manifest: shortlist"
    if not isinstance(value, dict) or set(value) != {"encoding", "bytes", "frequent"}:
        raise ModelFileError(f"{where}: expected exactly encoding, bytes and frequent")
    check_encoding(value["encoding"], where)
    highest = {"bytes": MAXIMUM_SHORTLIST_BYTES, "frequent": vocabulary_size}
    for name, most in highest.items():
        if type(value[name]) is not int or not 1 <= value[name] <= most:
            raise ModelFileError(f"{where}: {name} is {value[name]!r:.40}, expected a whole number from 1 to {most}")
    return StoredShortlist(value["bytes"], value["frequent"])


def read_shortlist(
    compressed: bytes | memoryview, stored: StoredShortlist, source_size: int, vocabulary_size: int
) -> bytes:
    """Decompress a shortlist, and check that it has as many ids as its counts state; every id is valid.

    Args:
        compressed: the tensor.
        stored: the manifest's entry.
        source_size: pieces of the source's vocabulary.
        vocabulary_size: pieces of the target's.

    Raises:
        ModelFileError: it is not one xz stream of the stated size, or its counts do not fit.
    """
    content = decompress(SHORTLIST_TENSOR, compressed, stored.bytes)
    ids = stored.frequent + sum(content[:source_size])
    if len(content) != source_size + ids * id_bytes(vocabulary_size):
        raise ModelFileError(
            f"tensor {SHORTLIST_TENSOR!r} has {len(content)} bytes, which is not the size of {ids} pieces"
        )
    return content


def id_bytes(vocabulary_size: int) -> int:
    """Return the bytes of an id: the fewest that hold every id."""
    return next(width for width in (1, 2, 3) if vocabulary_size <= 1 << 8 * width)
