"""Lexical shortlists [E4] for every side: the same lists in a model file, CTranslate2's map and Marian's table."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.vocabulary import EOS, SPECIAL_PIECES

FREQUENT: Final = 100  # pieces in every sentence's list
LIKELIEST: Final = 50  # of each source piece


def random_shortlist(size: int, seed: int) -> Shortlist:
    """Return lists of the usual lengths for a vocabulary of `size` pieces: the first 100, and any 50 others a piece."""
    frequent = range(SPECIAL_PIECES, SPECIAL_PIECES + FREQUENT)
    chance = random.Random(seed)
    others = range(frequent.stop, size)
    chosen = (LIKELIEST if piece >= SPECIAL_PIECES else 0 for piece in range(size))
    return Shortlist(frequent, [sorted(chance.sample(others, count)) for count in chosen])


def ctranslate2_map(shortlist: Shortlist, pieces: Sequence[str]) -> str:
    """Return a `vmap.txt`: the targets of no word, which every list has, then those of each source piece.

    CTranslate2 gives a batch the union of its sentences' lists.
    """
    everywhere = [*shortlist.frequent, *shortlist.targets[EOS]]
    lines = ["\t" + " ".join(pieces[id] for id in everywhere)]
    for source, targets in enumerate(shortlist.targets):
        if targets and source != EOS:
            lines.append(f"{pieces[source]}\t" + " ".join(pieces[id] for id in targets))
    return "\n".join(lines) + "\n"


def marian_table(shortlist: Shortlist, pieces: Sequence[str]) -> tuple[str, int, int]:
    """Return a lexical table with Marian's two numbers: how many ids from 0 on are in every list, and targets a piece.

    Marian gives a batch the union of its sentences' lists. Raises ConfigurationError where the frequent pieces are not
    the first of the vocabulary, or eos has targets: Marian's lists are not made so.
    """
    ids = [SPECIAL_PIECES - 1, *shortlist.frequent]
    if any(right != left + 1 for left, right in pairwise(ids)) or shortlist.targets[EOS]:
        raise ConfigurationError("Marian's shortlists hold the first pieces of the vocabulary, and none for eos")
    lines = [
        f"{pieces[target]} {pieces[source]} {1 / len(targets):.6f}\n"
        for source, targets in enumerate(shortlist.targets)
        for target in targets
    ]
    return "".join(lines), ids[-1] + 1, max(map(len, shortlist.targets))
