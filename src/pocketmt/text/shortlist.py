"""Lexical shortlists: the pieces allowed in a translation, given its source (Behnke et al. 2021, section 3)."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise, product
from pathlib import Path
from typing import Final

import numpy as np

from pocketmt.errors import DataError
from pocketmt.text.corpus import read_lines
from pocketmt.text.pair_chunks import Integers
from pocketmt.text.translation_table import TranslationTable
from pocketmt.text.vocabulary import Vocabularies, Vocabulary

WORD_BEGINS: Final = "\u2581"  # SentencePiece's character for the space before a word
_PLAIN_WORD: Final = re.compile(r"[^ \t]+")
_LINK: Final = re.compile(r"(\d{1,6})-(\d{1,6})")


def encode_pairs(vocabularies: Vocabularies, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the piece ids of each pair of sentences; those of a source that is not empty end in eos."""
    for source, target in pairs:
        ids = vocabularies.source.encode(source)
        yield [*ids, vocabularies.source.ids.eos] if ids else ids, vocabularies.target.encode(target)


def choose_pieces(
    table: TranslationTable, target_counts: Integers, top_k: int, frequent: int, vocabularies: Vocabularies
) -> tuple[list[int], list[list[int]]]:
    """Choose the pieces of a shortlist, without the special pieces that every list has.

    Args:
        table: p(target | source).
        target_counts: number of occurrences of each piece on the target side [target's vocabulary size].
        top_k: number of targets for each source piece.
        frequent: number of pieces for every sentence.
        vocabularies: of the model.

    Returns:
        The most frequent pieces, and the most probable targets of each source piece; both ascending. The target of a
        source piece that does not occur in the text is the same piece of the target, so that names and numbers can be
        copied.
    """
    special = vocabularies.target.special
    counts = target_counts.copy()
    counts[sorted(special)] = 0
    order = np.argsort(-counts, kind="stable")[:frequent]
    chosen = table.top_k(top_k)
    bounds = np.searchsorted(chosen.sources, np.arange(len(vocabularies.source) + 1))
    targets = chosen.targets.tolist()
    lists = [[target for target in targets[begin:end] if target not in special] for begin, end in pairwise(bounds)]
    for id, piece in enumerate(vocabularies.source.pieces(range(len(vocabularies.source)))):
        if bounds[id] == bounds[id + 1] and id not in vocabularies.source.special:
            same = id if vocabularies.shared else vocabularies.target.id(piece)
            lists[id] = [] if same is None or same in special else [same]
    return sorted(order[counts[order] > 0].tolist()), lists


def read_links(
    path: Path, vocabularies: Vocabularies, pairs: Iterable[tuple[str, str]]
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the linked pieces of each sentence pair, from word alignments in the format of fast_align and eflomal.

    Args:
        path: a file with a line for each sentence pair: `i-j` for each link of the i-th source word to the j-th target
            word, from 0, where white space separates words. All pieces of linked words are linked.
        vocabularies: of both sides.
        pairs: (source line, target line), one for each line of the file.

    Raises:
        DataError: a line is not an alignment or names a missing word, the words of a text are not clear, or the numbers
            of lines differ.
    """
    lines = read_lines(path)
    number = links = 0
    for number, (source, target) in enumerate(pairs, start=1):
        line = next(lines, None)
        if line is None:
            raise DataError(f"{path} ends after line {number - 1}, before the text: align the same text")
        try:
            left, right = _words(vocabularies.source, source), _words(vocabularies.target, target)
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from error
        linked: list[tuple[int, int]] = []
        for link in line.split():
            match = _LINK.fullmatch(link)
            if match is None:
                raise DataError(f"{path}, line {number}: {link!r:.40} is not a link: expected i-j, as in 0-0 1-2")
            i, j = map(int, match.groups())
            if i >= len(left) or j >= len(right):
                raise DataError(
                    f"{path}, line {number}: {link} names a word that is not there ({len(left)} and {len(right)} "
                    "words): align the same text, split into words at spaces only"
                )
            linked += product(left[i], right[j])
        links += len(linked)
        table = np.array(linked, np.int64).reshape(-1, 2)
        yield table[:, 0], table[:, 1]
    if next(lines, None) is not None:
        raise DataError(f"{path} has more lines than the text, which has {number}: align the same text")
    if not links:
        raise DataError(f"{path} has no links: nothing can be learnt")


def _words(vocabulary: Vocabulary, line: str) -> list[list[int]]:
    """Return the ids of each word between white space; DataError if there can be several divisions into words."""
    words = line.split()
    if len(words) != len(_PLAIN_WORD.findall(line)):
        raise DataError(
            "the text has white space other than spaces and tabs, where not every aligner divides words: replace it by "
            "spaces, and align the text again"
        )
    if WORD_BEGINS in line:  # which the pieces cannot tell from a space
        return [vocabulary.encode(word) for word in words]
    found = _normalized_words(vocabulary, line)
    if len(found) == len(words):
        return found
    # Normalization divides a word with an accent that stands alone, and drops a word without visible characters.
    counts = [len(_normalized_words(vocabulary, word)) for word in words]
    if sum(counts) != len(found):
        raise DataError("the vocabulary has pieces with parts of several words: leave the alignments out")
    remaining = iter(found)
    return [list(chain.from_iterable(islice(remaining, count))) for count in counts]


def _normalized_words(vocabulary: Vocabulary, line: str) -> list[list[int]]:
    """Return the ids of each word after normalization."""
    words: list[list[int]] = []
    # Of an unknown piece, the text says whether a word begins.
    for id, piece in zip(vocabulary.encode(line), vocabulary.encode_as_pieces(line), strict=True):
        if piece.startswith(WORD_BEGINS) or not words:
            words.append([])
        words[-1].append(id)
    return words
