"""Cleaning parallel text: pairs that would harm training are left out, and counted by reason ([E2])."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.text.language_identification import LanguageIdentification
from pocketmt.text.normalization import normalize
from pocketmt.text.scripts import Letters

Pair = tuple[str, str]
Words = Sequence[Hashable]
Cut = Callable[[str], Words]  # a normalized line -> its words, or pieces of a vocabulary
_DIGEST_BYTES = 16  # two of a billion different pairs are taken for the same once in 10^20 corpora
LONGEST_REPEATED: Final = 4  # words that together count as repeated
LEAST_COPIED: Final = 4  # words of a target: a shorter one may well be all names and numbers


class Reason(Enum):
    """Why a pair is left out; a pair with several reasons counts under the first of them in this order."""

    EMPTY = "empty"  # nothing but white space and control characters on one side
    TOO_LONG = "too long"
    RATIO = "ratio"  # one side is much longer than the other
    IDENTICAL = "identical"  # the same text on both sides: not translated
    COPIED = "copied"  # most words of the target are the source's
    LETTERS = "letters"  # too few characters are letters of the language's script
    REPETITION = "repetition"  # some words many times in succession: a translation that ran in circles
    LANGUAGE = "language"  # in another language
    DUPLICATE = "duplicate"  # the same two texts were there before
    IMPROBABLE = "improbable"  # of the largest cross-entropy a word: see `text.improbable`


@dataclass(frozen=True)
class Cleaning:
    """What is left out. Lengths are in words, or in what else the `cut` that `clean` is given cuts a line into."""

    maximum_length: int = 200  # of the longer side
    maximum_ratio: float = 4.0  # of the longer side to the shorter one
    ratio_slack: int = 5  # by so much the longer side may exceed the ratio: short texts differ much by chance
    remove_identical: bool = True
    remove_duplicates: bool = True
    maximum_copied: float = 1.0  # share of the target's words that are the source's; 1: any
    maximum_repetitions: int | None = None  # of up to LONGEST_REPEATED words in succession; None: any
    languages: tuple[str, str] | None = None  # of source and target, ISO 639-1: what the next two need
    minimum_letters: float = 0.0  # share of a side's characters, spaces not counted; 0: any
    minimum_language_probability: float = 0.0  # of each side's language; 0: any, and none is identified

    def __post_init__(self) -> None:
        """Raise ConfigurationError where a bound would leave out everything, or needs languages that are not given."""
        if self.maximum_length < 1:
            raise ConfigurationError(f"maximum_length is {self.maximum_length}: it must be at least 1")
        if not self.maximum_ratio >= 1:
            raise ConfigurationError(f"maximum_ratio is {self.maximum_ratio}: it must be at least 1")
        if self.ratio_slack < 0:
            raise ConfigurationError(f"ratio_slack is {self.ratio_slack}: it must not be negative")
        if self.maximum_repetitions is not None and self.maximum_repetitions < 1:
            raise ConfigurationError(f"maximum_repetitions is {self.maximum_repetitions}: it must be at least 1")
        for name in ("maximum_copied", "minimum_letters", "minimum_language_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigurationError(f"{name} is {getattr(self, name)}: it must be from 0 to 1")
        if self.languages is None and (self.minimum_letters or self.minimum_language_probability):
            raise ConfigurationError("minimum_letters and minimum_language_probability need languages: give both")


@dataclass
class CleaningReport:
    """Counts of pairs; they grow while `clean` runs and are complete at its end."""

    kept: int = 0
    removed: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(Reason, 0))

    @property
    def read(self) -> int:
        """Pairs looked at so far."""
        return self.kept + sum(self.removed.values())

    def __str__(self) -> str:
        """Return a line for people: "kept 950 of 1000 pairs; left out: 30 too long, 20 duplicate"."""
        counts = ", ".join(f"{count} {reason.value}" for reason, count in self.removed.items() if count)
        return f"kept {self.kept} of {self.read} pairs" + (f"; left out: {counts}" if counts else "")


def clean(pairs: Iterable[Pair], cleaning: Cleaning, report: CleaningReport, cut: Cut = str.split) -> Iterator[Pair]:
    """Yield the pairs that are good for training, as they came and in their order.

    Pairs are read one at a time. A hash of each distinct pair is kept (some 100 bytes, however long the texts are),
    and nothing where `remove_duplicates` is off.

    Args:
        pairs: (source, target) lines.
        cleaning: what is left out.
        report: is counted up.
        cut: of a normalized line into words, or into a vocabulary's pieces for a language written without spaces.

    Raises ConfigurationError, before the first pair is read, where a language is not known.
    """
    return _clean(pairs, _Rules(cleaning, cut), report)


def _clean(pairs: Iterable[Pair], rules: "_Rules", report: CleaningReport) -> Iterator[Pair]:
    for pair in pairs:
        reason = rules.reason(normalize(pair[0]), normalize(pair[1]))
        if reason is None:
            report.kept += 1
            yield pair
        else:
            report.removed[reason] += 1


class _Rules:
    """A cleaning with what it needs to have at hand: letters, a model of languages, hashes of the pairs so far."""

    def __init__(self, cleaning: Cleaning, cut: Cut) -> None:
        self.cleaning = cleaning
        self.cut = cut
        self.seen: set[bytes] = set()
        self.letters: tuple[Letters, ...] = ()
        self.identification: LanguageIdentification | None = None
        if cleaning.languages is not None and cleaning.minimum_letters:
            self.letters = tuple(map(Letters, cleaning.languages))
        if cleaning.languages is not None and cleaning.minimum_language_probability:
            self.identification = LanguageIdentification(cleaning.languages)

    def reason(self, source: str, target: str) -> Reason | None:
        """Return why a pair of normalized lines is left out; None where it is kept."""
        if not source or not target:
            return Reason.EMPTY
        reason = self._reason_of_words(self.cut(source), self.cut(target), source == target)
        if reason is not None:
            return reason
        if any(self._lacks_letters(*side) for side in zip((source, target), self.letters, strict=False)):
            return Reason.LETTERS
        if self.identification is not None and self._is_foreign(self.identification, source, target):
            return Reason.LANGUAGE
        if self.cleaning.remove_duplicates:
            digest = _digest(source, target)
            if digest in self.seen:
                return Reason.DUPLICATE
            self.seen.add(digest)
        return None

    def _reason_of_words(self, source: Words, target: Words, identical: bool) -> Reason | None:
        cleaning = self.cleaning
        shorter, longer = sorted((len(source), len(target)))
        if longer > cleaning.maximum_length:
            return Reason.TOO_LONG
        if longer > cleaning.maximum_ratio * shorter + cleaning.ratio_slack:
            return Reason.RATIO
        if cleaning.remove_identical and identical:
            return Reason.IDENTICAL
        if cleaning.maximum_copied < 1 and _copied(source, target) > cleaning.maximum_copied:
            return Reason.COPIED
        most = cleaning.maximum_repetitions
        if most is not None and (_repeats(source, most) or _repeats(target, most)):
            return Reason.REPETITION
        return None

    def _lacks_letters(self, line: str, letters: Letters) -> bool:
        words = line.split()
        return letters.count(words) < self.cleaning.minimum_letters * sum(map(len, words))

    def _is_foreign(self, identification: LanguageIdentification, *lines: str) -> bool:
        assert self.cleaning.languages is not None
        least = self.cleaning.minimum_language_probability
        sides = zip(lines, self.cleaning.languages, strict=True)
        return any(identification.probability(line, language) < least for line, language in sides)


def _copied(source: Words, target: Words) -> float:
    """Return the share of the target's words that are the source's, each as often as it is there; 0 for few words."""
    if len(target) < LEAST_COPIED:
        return 0.0
    return (Counter(source) & Counter(target)).total() / len(target)


def _repeats(words: Words, most: int) -> bool:
    """Return whether 1 to LONGEST_REPEATED words stand more than `most` times in succession."""
    for length in range(1, LONGEST_REPEATED + 1):
        same = 0
        for earlier, later in zip(words, words[length:], strict=False):
            same = same + 1 if earlier == later else 0
            if same == length * most:
                return True
    return False


def _digest(source: str, target: str) -> bytes:
    # A normalized line holds no line feed, so that no two different pairs are joined to the same text. Lone surrogates,
    # which are not UTF-8, may still come from text read with surrogateescape.
    return blake2b(f"{source}\n{target}".encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
