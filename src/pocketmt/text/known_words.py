"""The words of training text that its translations translate: others, such as most names, are copied."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pocketmt.text.normalization import normalize

MOST_WORDS: Final = 100_000
_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN_WORD: Final = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")


class WordCounts(NamedTuple):
    """The words of one side of parallel text.

    Attributes:
        translated: words that are translated, in lower case, the most frequent first.
        copied: number of the other words.
        latin: share of the words of all translations that are in Latin letters.
    """

    translated: Sequence[str]
    copied: int
    latin: float


def count_words(pairs: Iterable[tuple[str, str]], most: int = MOST_WORDS) -> WordCounts:
    """Return the words of the first lines of all pairs that the second lines translate.

    A word is copied if it begins with a capital and the translation has it, with or without an s at its end, in at
    least half of the pairs with the word. Lines are normalized, as in training: a letter and its accent are one.

    Args:
        pairs: of a line and its translation.
        most: words to return; the rarest of more are left out.
    """
    seen: Counter[str] = Counter()
    copied: Counter[str] = Counter()
    targets = latin = 0
    for source, target in pairs:
        kept = set(_WORD.findall(normalize(target)))
        targets += len(kept)
        latin += sum(map(bool, map(_LATIN_WORD.fullmatch, kept)))
        for word in set(_WORD.findall(normalize(source))):
            lower = word.lower()
            seen[lower] += 1
            if word[0].isupper() and not kept.isdisjoint((word, f"{word}s", word.removesuffix("s"))):
                copied[lower] += 1
    translated = [word for word, count in seen.most_common() if 2 * copied[word] < count]
    return WordCounts(translated[:most], len(seen) - len(translated), latin / max(targets, 1))
