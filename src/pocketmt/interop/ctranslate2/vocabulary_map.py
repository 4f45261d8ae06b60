"""CTranslate2's shortlists: `vmap.txt`, a line of source pieces, a tab and target pieces for each entry.

The entry of no source piece is in every list. CTranslate2 takes the union of the lists of a batch, PocketMT that of a
sentence.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.file_content import read_whole
from pocketmt.model_file.shortlist_encoding import ListedSides, Shortlist

MAP: Final = "vmap.txt"
LARGEST_BYTES: Final = 256 << 20
_SEPARATORS: Final = frozenset(" \t\n")


def read_map(
    path: Path, sides: ListedSides, source_pieces: Sequence[str], target_pieces: Sequence[str]
) -> tuple[Shortlist, int]:
    """Read a shortlist; returns it with the number of entries of several source pieces, which are left out.

    Pieces that a vocabulary does not have are left out, as CTranslate2 never finds them.

    Raises InteropError if the file is damaged or lists more for a piece than a model file holds.
    """
    try:
        text = read_whole(path, LARGEST_BYTES, too_large=", which no shortlist has").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InteropError(f"{path}: is not UTF-8") from error
    source_ids, target_ids = ({piece: id for id, piece in enumerate(each)} for each in (source_pieces, target_pieces))
    frequent: set[int] = set()
    targets: list[set[int]] = [set() for _ in range(sides.source_size)]
    several = 0
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        source, tab, listed = line.partition("\t")
        if not tab:
            raise InteropError(f"{path}: line {number} has no tab between source and target pieces")
        ids = {target_ids[piece] for piece in listed.split(" ") if piece in target_ids}
        if not source:
            frequent |= ids
        elif source in source_ids:
            targets[source_ids[source]] |= ids
        else:
            several += " " in source
    # CTranslate2 never looks up the end of a text.
    targets[sides.source_eos] = set()
    frequent = frequent or {sides.special[0]}  # A shortlist has at least one; special pieces are in every list anyway.
    try:
        return Shortlist(sorted(frequent), [sorted(ids - frequent) for ids in targets], sides), several
    except ConfigurationError as error:
        raise InteropError(f"{path}: {error}") from error


def vocabulary_map(shortlist: Shortlist, source_pieces: Sequence[str], target_pieces: Sequence[str]) -> str:
    """Return the content of a `vmap.txt`: the targets of every list, then those of each source piece.

    Raises InteropError if a piece with targets, or a target, has a space, a tab or a line feed, which separate pieces.
    """
    eos = shortlist.sides.source_eos
    lists = {"": [*shortlist.frequent, *shortlist.targets[eos]]}
    lists |= {source_pieces[id]: list(ids) for id, ids in enumerate(shortlist.targets) if len(ids) and id != eos}
    listed = {*lists, *(target_pieces[id] for ids in lists.values() for id in ids)}
    if divided := [piece for piece in listed if not _SEPARATORS.isdisjoint(piece)]:
        raise InteropError(f"{MAP} cannot hold the piece {min(divided)!r:.60}: spaces separate pieces there")
    lines = (source + "\t" + " ".join(target_pieces[id] for id in ids) for source, ids in lists.items())
    return "\n".join(lines) + "\n"
