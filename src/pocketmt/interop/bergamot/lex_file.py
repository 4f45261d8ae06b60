"""Shortlists of bergamot (`lex.bin`, Marian's data/shortlist.cpp)."""

import struct
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.file_content import read_whole
from pocketmt.model_file.shortlist_encoding import ListedSides, Shortlist

MAGIC: Final = 0xF11A48D5013417F5
LARGEST_BYTES: Final = 256 << 20
_HEADER: Final = struct.Struct("<6Q")  # magic, checksum, frequent pieces, most targets, offsets, ids
_WORD: Final = (1 << 64) - 1


def is_lex_file(path: Path) -> bool:
    """Return whether a file begins as a shortlist does."""
    try:
        with path.open("rb") as file:
            return file.read(8) == MAGIC.to_bytes(8, "little")
    except OSError:
        return False


def read_lex_file(path: Path, sides: ListedSides, shared: bool) -> Shortlist:
    """Read a shortlist; pieces of the source that the file does not list have no targets.

    Args:
        path: of the file.
        sides: the vocabularies of the model.
        shared: whether both sides share one vocabulary: then the pieces of a source are in its list, too.

    Raises InteropError if the file is damaged, is for another vocabulary, or lists more than a model file holds.
    """
    content = read_whole(path, LARGEST_BYTES, too_large=", which no shortlist has")
    frequent, offsets, ids = _parts(path, content)
    if len(offsets) > sides.source_size + 1:
        raise InteropError(
            f"{path}: lists {len(offsets) - 1} pieces of the source, the vocabulary has {sides.source_size}: it is the "
            "shortlist of another model"
        )
    size = sides.target_size
    if frequent > size or (len(ids) and int(ids.max()) >= size):
        raise InteropError(f"{path}: names pieces that the vocabulary, of {size}, does not have")
    # A shortlist has at least one; special pieces are in every list anyway.
    everywhere = range(frequent) if frequent else sides.special[:1]
    targets: list[list[int]] = [[] for _ in range(sides.source_size)]
    for piece in range(len(offsets) - 1):
        targets[piece] = np.unique(ids[offsets[piece] : offsets[piece + 1]]).tolist()
    if shared:
        targets = [sorted({*found, piece}) for piece, found in enumerate(targets)]
    try:
        return Shortlist(everywhere, [[id for id in found if id not in everywhere] for found in targets], sides)
    except ConfigurationError as error:
        raise InteropError(f"{path}: {error}") from error


def _parts(path: Path, content: bytes) -> tuple[int, NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the number of frequent pieces, the offsets and the ids of a file whose sizes fit.

    Its checksum is not checked, as bergamot does not: it depends on the compiler that made it.
    """
    if len(content) < _HEADER.size:
        raise InteropError(f"{path}: has {len(content)} bytes, which no shortlist has")
    magic, _, frequent, _, offset_count, id_count = _HEADER.unpack_from(content)
    if magic != MAGIC:
        raise InteropError(
            f"{path}: is no binary shortlist of bergamot: download it again, or remove it, also from config.yml"
        )
    if len(content) != _HEADER.size + 8 * offset_count + 4 * id_count or not offset_count:
        raise InteropError(f"{path}: has {len(content)} bytes, not those of {id_count} ids: it is cut off or damaged")
    offsets = np.frombuffer(content, "<u8", offset_count, _HEADER.size)
    ids = np.frombuffer(content, "<u4", id_count, _HEADER.size + 8 * offset_count)
    if (offsets[1:] < offsets[:-1]).any() or int(offsets[-1]) > id_count:
        raise InteropError(f"{path}: its offsets do not ascend within its {id_count} ids: the file is damaged")
    return frequent, offsets, ids


def lex_file(shortlist: Shortlist, eos: int, shared: bool) -> bytes:
    """Return a shortlist as bytes of the file.

    Bergamot's frequent pieces are those of the lowest ids, so that others are targets of every piece here. `eos` ends
    translations: PocketMT adds it to every list, bergamot does not.
    """
    frequent = {*shortlist.frequent, eos}
    lowest = next((id for id in range(shortlist.sides.target_size) if id not in frequent), len(frequent))
    first = max(1, lowest)
    others = [id for id in frequent if id >= first]
    lists = []
    for piece, targets in enumerate(shortlist.targets):
        kept = {id for id in (*targets, *others) if id >= first and not (shared and id == piece)}
        lists.append(np.array(sorted(kept), "<u4"))
    lengths = np.array([0, *(len(each) for each in lists)], "<u8")
    ids = np.concatenate(lists)
    body = struct.pack("<4Q", first, max(1, int(lengths.max())), len(lengths), len(ids))
    body += np.cumsum(lengths, dtype="<u8").tobytes() + ids.tobytes()
    return struct.pack("<QQ", MAGIC, checksum_of(body)) + body


def checksum_of(content: bytes) -> int:
    """Return the checksum of the bytes after it: words of 64 bits, combined as boost's hash_combine does."""
    seed = 0
    for (word,) in struct.iter_unpack("<Q", content[: len(content) // 8 * 8]):
        seed ^= (word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & _WORD
    return seed
