"""Random lexical shortlists, and the table of a shortlist that Marian reads."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.vocabulary import EOS, SPECIAL_PIECES

FREQUENT: Final = 100  # pieces in every list
TOP_K: Final = 50  # targets of each source piece
# Zipf's law with exponents by which lists are about as large as learnt ones: of 32,000 pieces, the lists of 1, 32 and
# 64 sentences of 27 pieces hold 2, 15 and 21 %. Lists that IBM model 1 learnt from 127,000 pairs of Tatoeba, Multi30k
# and news held 1.4, 14 and 20 % for other text. Uniform ids would give 4, 74 and 93 %.
SOURCE_EXPONENT: Final = 1.1
TARGET_EXPONENT: Final = 1.2


def zipf_pieces(first: int, size: int, exponent: float, chance: random.Random) -> Iterator[int]:
    """Yield random ids from `first` to `size - 1` without end: the n-th has the probability n ** -exponent / sum."""
    pieces = range(first, size)
    weights = list(accumulate(rank**-exponent for rank in range(1, len(pieces) + 1)))
    while True:
        yield from chance.choices(pieces, cum_weights=weights, k=1000)


def random_shortlist(size: int, seed: int) -> Shortlist:
    """Return a shortlist for `size` pieces: the first 100 for every sentence, and 50 random others a source piece."""
    frequent = range(SPECIAL_PIECES, SPECIAL_PIECES + FREQUENT)
    others = zipf_pieces(frequent.stop, size, TARGET_EXPONENT, random.Random(seed))
    most = min(TOP_K, size - frequent.stop)
    chosen = (most if piece >= SPECIAL_PIECES else 0 for piece in range(size))
    return Shortlist(frequent, [sorted(_distinct(others, count)) for count in chosen])


def listed_share(shortlist: Shortlist, sentences: Sequence[Sequence[int]], together: int) -> float:
    """Return the mean share of the vocabulary that is in the list of at least one of `together` sentences."""
    batches = [sentences[start : start + together] for start in range(0, len(sentences), together)]
    united = sum(len(set().union(*map(shortlist.pieces, batch))) for batch in batches)
    return united / len(batches) / len(shortlist.targets)


def _distinct(pieces: Iterator[int], count: int) -> set[int]:
    found: set[int] = set()
    while len(found) < count:
        found.add(next(pieces))
    return found


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
