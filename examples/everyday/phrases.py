"""Finds words and phrases of parallel text with their translations, for models that are to translate them alone.

Text of sentences hardly has lines of one word, and a model that has seen only sentences makes a sentence of each.

python -m examples.everyday.phrases SOURCE TARGET --output PHRASES.en PHRASES.de
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examples.everyday.texts import write_pairs
from pocketmt.errors import PocketMTError
from pocketmt.text.corpus import read_pairs
from pocketmt.text.pair_chunks import PairChunks
from pocketmt.text.translation_table import TranslationTable, estimate

LONGEST: Final = 3  # words of a phrase
LONGEST_SENTENCE: Final = 40  # words; others are left out
LEAST_COUNT: Final = 3  # of a phrase with its translation
LEAST_SHARE: Final = 0.25  # of the phrase's occurrences with this translation
LEAST_SHARE_BACK: Final = 0.05  # of the translation's occurrences with this phrase
WORD_COPIES: Final = 4  # of a single word, which users type most often
_LEAST_LINK: Final = 1e-3  # p(target | source) p(source | target) of linked words
_TOKEN: Final = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


class Phrase(NamedTuple):
    """A phrase and its translation."""

    source: str
    target: str

    def lower(self) -> "Phrase":
        """Return the phrase in lower case."""
        return Phrase(self.source.lower(), self.target.lower())

    def capitalized(self) -> "Phrase":
        """Return the phrase as a label or a title begins."""
        return Phrase(self.source[:1].upper() + self.source[1:], self.target[:1].upper() + self.target[1:])


class Found(NamedTuple):
    """A phrase in a sentence.

    Attributes:
        phrase: as it is written.
        is_within: whether it begins neither sentence, so that its first letters have their usual case.
        is_alone: whether punctuation, or the sentence, begins and ends with it on both sides, as in "No, thanks."
    """

    phrase: Phrase
    is_within: bool
    is_alone: bool


class Side:
    """The words of one side of a text, without regard to case."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.sentences = [_TOKEN.findall(line) for line in lines]
        known: dict[str, int] = {}  # Id 0 is the end of a sentence.
        self.ids = [[known.setdefault(word.lower(), len(known) + 1) for word in words] for words in self.sentences]
        self.size = len(known) + 1


class Aligner:
    """Links words of sentence pairs, each to at most one, by IBM model 1 in both directions."""

    def __init__(self, source: Side, target: Side) -> None:
        self._forward = _probabilities(source, target)
        self._backward = _probabilities(target, source)
        self._sizes = source.size, target.size

    def links(self, source: Sequence[int], target: Sequence[int]) -> dict[int, int]:
        """Return the places of linked words: of each source word, the target word that is best for both."""
        source_size, target_size = self._sizes
        both: NDArray[np.float64] = np.array(
            [
                [
                    self._forward.get(one * target_size + other, 0.0)
                    * self._backward.get(other * source_size + one, 0.0)
                    for other in target
                ]
                for one in source
            ]
        )
        best_target, best_source = both.argmax(axis=1).tolist(), both.argmax(axis=0).tolist()
        return {
            place: other
            for place, other in enumerate(best_target)
            if best_source[other] == place and both[place, other] > _LEAST_LINK
        }


def _probabilities(source: Side, target: Side) -> dict[int, float]:
    """Return p(target | source) by source x target's size + target."""
    pairs = (([*one, 0], other) for one, other in zip(source.ids, target.ids, strict=True))
    with PairChunks(pairs, target.size) as chunks:
        table: TranslationTable = estimate(chunks, target.size)
    return dict(zip(table.keys.tolist(), table.probabilities.tolist(), strict=True))


def find_phrases(source: Sequence[str], target: Sequence[str], links: dict[int, int]) -> Iterator[Found]:
    """Yield the phrases of a sentence pair that its links allow (Koehn, Och and Marcu 2003, section 3).

    All source words are linked, and no word of either phrase is linked to a word outside the other.
    """
    linked_back = {other: place for place, other in links.items()}
    for start in range(len(source)):
        for end in range(start + 1, min(start + LONGEST, len(source)) + 1):
            if end - 1 not in links or not source[end - 1][0].isalpha():
                break
            places = [links[place] for place in range(start, end)]
            first, last = min(places), max(places)
            words = target[first : last + 1]
            inside = all(start <= linked_back.get(place, start) < end for place in range(first, last + 1))
            if len(words) <= LONGEST and inside and all(word[0].isalpha() for word in words):
                phrase = Phrase(" ".join(source[start:end]), " ".join(words))
                is_alone = _is_alone(source, start, end) and _is_alone(target, first, last + 1)
                yield Found(phrase, start > 0 and first > 0, is_alone)


def _is_alone(words: Sequence[str], start: int, end: int) -> bool:
    around = [*words[max(start - 1, 0) : start], *words[end : end + 1]]
    return not any(word[0].isalnum() for word in around)


class PhraseCounts:
    """How often phrases and their translations occur in a text, without regard to case.

    Attributes:
        counts: of all occurrences.
        alone: of those that stand alone.
    """

    def __init__(self, source: Side, target: Side) -> None:
        self.counts: Counter[Phrase] = Counter()
        self.alone: Counter[Phrase] = Counter()
        self._written: dict[Phrase, Counter[Phrase]] = {}
        aligner = Aligner(source, target)
        sentences = zip(source.sentences, target.sentences, strict=True)
        for (one, other), ids in zip(sentences, zip(source.ids, target.ids, strict=True), strict=True):
            if 0 < len(one) <= LONGEST_SENTENCE and 0 < len(other) <= LONGEST_SENTENCE:
                self._add(find_phrases(one, other, aligner.links(*ids)))

    def _add(self, phrases: Iterable[Found]) -> None:
        for found in phrases:
            lower = found.phrase.lower()
            self.counts[lower] += 1
            self.alone[lower] += found.is_alone
            if found.is_within:
                self._written.setdefault(lower, Counter())[found.phrase] += 1

    def best(self) -> list[Phrase]:
        """Return the phrases with their most frequent translations, in their usual case.

        Of a phrase that often stands alone, only these occurrences count.
        """
        best = {**_frequent(self.counts), **_frequent(self.alone)}
        return [self._as_written(best[source]) for source in sorted(best)]

    def _as_written(self, phrase: Phrase) -> Phrase:
        return self._written[phrase].most_common(1)[0][0] if phrase in self._written else phrase


def _frequent(counts: "Counter[Phrase]") -> dict[str, Phrase]:
    """Return the translation of each source phrase that is frequent enough."""
    of_source: Counter[str] = Counter()
    of_target: Counter[str] = Counter()
    best: dict[str, tuple[int, Phrase]] = {}
    for phrase, count in counts.items():
        of_source[phrase.source] += count
        of_target[phrase.target] += count
        best[phrase.source] = max(best.get(phrase.source, (0, phrase)), (count, phrase))
    return {
        source: phrase
        for source, (count, phrase) in best.items()
        if count >= LEAST_COUNT
        and count >= LEAST_SHARE * of_source[source]
        and count >= LEAST_SHARE_BACK * of_target[phrase.target]
    }


def training_pairs(found: Iterable[Phrase]) -> Iterator[Phrase]:
    """Yield phrases as they are written within a sentence and as labels; single words several times."""
    for phrase in found:
        copies = 1 if " " in phrase.source else WORD_COPIES
        yield from [phrase] * copies
        if phrase.capitalized() != phrase:
            yield from [phrase.capitalized()] * copies


def main() -> int:
    """Write the phrases of a text; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="source side of parallel text")
    parser.add_argument("target", type=Path, help="target side")
    parser.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="files for phrases and translations")
    options = parser.parse_args()
    try:
        pairs = list(read_pairs(options.source, options.target))
        counts = PhraseCounts(Side(source for source, _ in pairs), Side(target for _, target in pairs))
        write_pairs(training_pairs(counts.best()), *options.output)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
