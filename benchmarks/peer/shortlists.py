"""Random lexical shortlists, and the table of a shortlist that Marian reads."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.vocabulary import EOS, SPECIAL_PIECES

FREQUENT: Final = 100  # pieces in every list
TOP_K: Final = 50  # targets of each source piece


def random_shortlist(size: int, seed: int) -> Shortlist:
    """Return a shortlist for `size` pieces: the first 100 for every sentence, and 50 random others a source piece."""
    frequent = range(SPECIAL_PIECES, SPECIAL_PIECES + FREQUENT)
    chance = random.Random(seed)
    others = range(frequent.stop, size)
    chosen = (TOP_K if piece >= SPECIAL_PIECES else 0 for piece in range(size))
    return Shortlist(frequent, [sorted(chance.sample(others, count)) for count in chosen])


def marian_table(shortlist: Shortlist, pieces: Sequence[str]) -> tuple[str, int, int]:
    """Return a lexical table with Marian's two numbers: of the first ids, in every list, and of targets a source piece.

    Marian uses the union of lists for a batch. Raises ConfigurationError if the frequent pieces are not the first of
    the vocabulary, or EOS has targets, which Marian does not support.
    """
    ids = [SPECIAL_PIECES - 1, *shortlist.frequent]
    if any(right != left + 1 for left, right in pairwise(ids)) or shortlist.targets[EOS]:
        raise ConfigurationError("Marian's shortlists have the first pieces of the vocabulary, and no targets of EOS")
    lines = [
        f"{pieces[target]} {pieces[source]} {1 / len(targets):.6f}\n"
        for source, targets in enumerate(shortlist.targets)
        for target in targets
    ]
    return "".join(lines), ids[-1] + 1, max(map(len, shortlist.targets))
