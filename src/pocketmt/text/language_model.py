"""An n-gram language model with interpolated modified Kneser-Ney smoothing, as KenLM's lmplz estimates it.

Chen and Goodman 1998, section 3; Heafield et al. 2013. KenLM's package on PyPI can query a model but not estimate one:
lmplz needs Boost, which is not on PyPI. n-grams are rows of sorted arrays, and batches of text are looked up at once.
"""

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import DataError

ORDER: Final = 3
_START, _END, _UNKNOWN = 0, 1, 2
_WORDS: Final = 3  # the first id of a word
# Discounts for texts too small for Chen and Goodman's estimate, as lmplz --discount_fallback.
_FALLBACK: Final = (0.5, 1.0, 1.5)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class _Grams:
    """The n-grams of one length."""

    keys: Integers  # [n] sorted, (id of the n-gram without its last word) * vocabulary + last word; a word is its id
    probability: Floats  # [n] of the last word given the others, interpolated with all lower orders
    backoff: Floats  # [n] weight of the next lower order after this n-gram


@dataclass
class _Counted:
    """Counts of n-grams of one length, before smoothing."""

    keys: Integers  # [n], as above
    count: Integers  # [n] occurrences; of shorter n-grams that do not start a sentence, distinct preceding words
    starts: NDArray[np.bool_]  # [n] whether the n-gram starts a sentence
    suffix: Integers  # [n] id of the n-gram without its first word
    at: Integers  # [tokens] id of the n-gram that ends at the token, -1 for none


class LanguageModel:
    """Probabilities of words given the two words before them."""

    def __init__(self, sentences: Iterable[Sequence[Hashable]], order: int = ORDER) -> None:
        """Estimate the model from sentences, as lists of words; it takes about 50 bytes for each distinct n-gram.

        Raises DataError if there is no sentence.
        """
        self._words: dict[Hashable, int] = {}
        tokens = _concatenate(sentences, lambda word: self._words.setdefault(word, _WORDS + len(self._words)))
        if not len(tokens):
            raise DataError("there is no text to train a language model on: every line is empty")
        self._vocabulary = _WORDS + len(self._words)
        counted = [_single_words(tokens, self._vocabulary)]
        for length in range(2, order + 1):
            longer = _longer(tokens, counted[-1], length, self._vocabulary)
            if longer is None:
                break
            counted.append(longer)
        self._levels = _smooth(counted, self._vocabulary)

    def cross_entropies(self, sentences: Sequence[Sequence[Hashable]]) -> list[float]:
        """Return the cross-entropy of each sentence in nats per word, its end included; unknown words are one word."""
        if not sentences:
            return []
        tokens = _concatenate(sentences, lambda word: self._words.get(word, _UNKNOWN))
        starts = np.flatnonzero(tokens == _START)
        surprise = -np.log(self._probabilities(tokens))
        surprise[starts] = 0.0
        lengths = np.diff(np.append(starts, len(tokens))) - 1
        means: list[float] = (np.add.reduceat(surprise, starts) / lengths).tolist()
        return means

    def _probabilities(self, tokens: Integers) -> Floats:
        """Return the probability of each token given those before it [tokens]; meaningless at sentence starts."""
        found = tokens  # id of the n-gram of the length below that ends at each token, -1 if unknown
        probability = self._levels[0].probability[tokens]
        for below, level in zip(self._levels, self._levels[1:], strict=False):
            context = _before(found, tokens)
            known = context >= 0
            probability = np.where(known, probability * below.backoff[context], probability)
            keys = context * self._vocabulary + tokens
            place = np.minimum(np.searchsorted(level.keys, keys), len(level.keys) - 1)
            seen = known & (level.keys[place] == keys)
            probability = np.where(seen, level.probability[place], probability)
            found = np.where(seen, place, -1)
        return probability


def _concatenate(sentences: Iterable[Sequence[Hashable]], number: Any) -> Integers:
    """Return the concatenated word ids of all sentences, each between the start and end symbols."""
    tokens = array("q")
    for sentence in sentences:
        tokens.append(_START)
        tokens.extend(map(number, sentence))
        tokens.append(_END)
    return np.frombuffer(tokens, dtype=np.int64) if tokens else np.zeros(0, np.int64)


def _before(at: Integers, tokens: Integers) -> Integers:
    """Return the id of the n-gram that ends before each token; -1 at sentence starts."""
    return np.where(tokens == _START, -1, np.concatenate([np.full(1, -1), at[:-1]]))


def _single_words(tokens: Integers, vocabulary: int) -> _Counted:
    words = np.arange(vocabulary)
    count = np.bincount(tokens, minlength=vocabulary)
    count[_START] = 0  # it is never predicted
    return _Counted(words, count, words == _START, np.zeros(vocabulary, np.int64), tokens)


def _longer(tokens: Integers, shorter: _Counted, length: int, vocabulary: int) -> _Counted | None:
    """Count n-grams of a length, and replace the counts of those one shorter by continuation counts.

    Returns None if no sentence is long enough.
    """
    context = _before(shorter.at, tokens)
    ends = np.flatnonzero(context >= 0)
    if not len(ends):
        return None
    keys, first, which, count = np.unique(
        context[ends] * vocabulary + tokens[ends], return_index=True, return_inverse=True, return_counts=True
    )
    at = np.full(len(tokens), -1)
    at[ends] = which
    suffix = shorter.at[ends[first]]
    continuations = np.bincount(suffix, minlength=len(shorter.keys))
    shorter.count = np.where(shorter.starts, shorter.count, continuations)
    return _Counted(keys, count, tokens[ends[first] - length + 1] == _START, suffix, at)


def _smooth(counted: list[_Counted], vocabulary: int) -> list[_Grams]:
    """Return probabilities and backoffs: the discounts of each order go to the next lower one."""
    words = counted[0]
    discount = _discounts(words.count)
    total = words.count.sum()
    even = discount.sum() / total / (vocabulary - 1)  # over all words, the unknown word and the end symbol
    levels = [_Grams(words.keys, (words.count - discount) / total + even, np.ones(vocabulary))]
    for grams in counted[1:]:
        below = levels[-1]
        context = grams.keys // vocabulary
        discount = _discounts(grams.count)
        total = np.bincount(context, weights=grams.count, minlength=len(below.keys))
        given = np.bincount(context, weights=discount, minlength=len(below.keys))
        below.backoff = np.divide(given, total, out=np.ones(len(below.keys)), where=total > 0)
        own = (grams.count - discount) / total[context]
        probability = own + below.backoff[context] * below.probability[grams.suffix]
        levels.append(_Grams(grams.keys, probability, np.ones(len(grams.keys))))
    return levels


def _discounts(count: Integers) -> Floats:
    """Return the discount of each count: of 1, of 2, of 3 or more (Chen and Goodman 1998, eq. 26)."""
    once, twice, thrice, four = (int(np.count_nonzero(count == times)) for times in (1, 2, 3, 4))
    taken = _FALLBACK
    if once and twice and thrice:
        share = once / (once + 2 * twice)
        estimate = (1 - 2 * share * twice / once, 2 - 3 * share * thrice / twice, 3 - 4 * share * four / thrice)
        if all(0 <= each <= times for times, each in enumerate(estimate, start=1)):
            taken = estimate
    return np.array([0.0, *taken])[np.minimum(count, 3)]
