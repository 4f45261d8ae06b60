"""Lexical shortlists [E4]: the pieces that a translation may be made of, by those of its source."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Final

import numpy as np

from pocketmt.errors import DataError
from pocketmt.text.corpus import read_lines
from pocketmt.text.pair_chunks import Integers
from pocketmt.text.translation_table import TranslationTable
from pocketmt.text.vocabulary import EOS, SPECIAL_PIECES, Vocabulary

WORD_BEGINS: Final = "\u2581"  # SentencePiece's sign for the space before a word
_LINK: Final = re.compile(r"(\d{1,6})-(\d{1,6})")

Ids = Sequence[int]


def encode_pairs(vocabulary: Vocabulary, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the piece ids of each pair; those of the source end in eos, unless it is empty."""
    for source, target in pairs:
        ids = vocabulary.encode(source)
        yield [*ids, EOS] if ids else ids, vocabulary.encode(target)


def choose_pieces(
    table: TranslationTable, target_counts: Integers, likeliest: int, frequent: int
) -> tuple[list[int], list[list[int]]]:
    """Choose a shortlist's pieces; special pieces, which every list has, are in none.

    Args:
        table: p(target | source).
        target_counts: how often each piece stands on the target side [vocabulary size].
        likeliest: how many targets of each source piece.
        frequent: how many pieces for every sentence.

    Returns:
        The most frequent pieces, and for each source piece its likeliest targets; both ascending. A source piece that
        the text does not have has itself: names and numbers stay as they are.
    """
    counts = target_counts.copy()
    counts[:SPECIAL_PIECES] = 0
    order = np.argsort(-counts, kind="stable")[:frequent]
    chosen = table.likeliest(likeliest)
    bounds = np.searchsorted(chosen.sources, np.arange(len(counts) + 1))
    targets = chosen.targets.tolist()
    lists = [[target for target in targets[begin:end] if target >= SPECIAL_PIECES] for begin, end in pairwise(bounds)]
    for piece in range(SPECIAL_PIECES, len(counts)):
        if bounds[piece] == bounds[piece + 1]:
            lists[piece] = [piece]
    return sorted(order[counts[order] > 0].tolist()), lists


def read_links(
    path: Path, vocabulary: Vocabulary, pairs: Iterable[tuple[Ids, Ids]]
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the linked pieces of each sentence pair, by alignments of words as fast_align and eflomal write them.

    Args:
        path: a line a sentence pair: `i-j` for each link, of the i-th word of the source (from 0) to the j-th of the
            target, where words are what spaces divide. All pieces of linked words are linked.
        vocabulary: of the ids.
        pairs: (source ids, target ids), as many as the file has lines.

    Raises:
        DataError: naming the line that is no alignment or has a word that is not there, or unequal numbers of lines.
    """
    lines = read_lines(path)
    number = links = 0
    for number, (source, target) in enumerate(pairs, start=1):
        line = next(lines, None)
        if line is None:
            raise DataError(f"{path} ends after line {number - 1}, the text goes on: align the same text")
        left, right = _pieces_of_words(vocabulary, source), _pieces_of_words(vocabulary, target)
        linked: list[tuple[int, int]] = []
        for link in line.split():
            match = _LINK.fullmatch(link)
            if match is None:
                raise DataError(f"{path}, line {number}: {link!r:.40} is no link: expected i-j, as in 0-0 1-2")
            i, j = map(int, match.groups())
            if i >= len(left) or j >= len(right):
                raise DataError(
                    f"{path}, line {number}: {link} names a word that is not there ({len(left)} and {len(right)} "
                    "words): align the same text, cut into words by its spaces alone"
                )
            linked += product(left[i], right[j])
        links += len(linked)
        table = np.array(linked, np.int64).reshape(-1, 2)
        yield table[:, 0], table[:, 1]
    if next(lines, None) is not None:
        raise DataError(f"{path} has more lines than the text, which has {number}: align the same text")
    if not links:
        raise DataError(f"{path} links no word: nothing can be learnt")


def _pieces_of_words(vocabulary: Vocabulary, ids: Ids) -> list[list[int]]:
    words: list[list[int]] = []
    for id, piece in zip(ids, vocabulary.pieces(ids), strict=True):
        if id == EOS:
            continue
        if piece.startswith(WORD_BEGINS) or not words:
            words.append([])
        words[-1].append(id)
    return words
