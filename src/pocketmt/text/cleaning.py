"""Removes pairs that would harm training from parallel text (Behnke et al. 2021, section 2), and counts the reasons."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.text.language_identification import NOT_IDENTIFIED, LanguageIdentification
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.normalization import normalize
from pocketmt.text.scripts import Letters, known_languages

Pair = tuple[str, str]
Words = Sequence[Hashable]
Split = Callable[[str], Words]  # a normalized line -> its words, or its pieces
DIGEST_BYTES: Final = 16  # among a billion pairs, the chance that two have equal digests is 10^-20
LONGEST_REPEATED: Final = 4  # words of a repeated sequence
LEAST_COPIED: Final = 4  # words of a target; shorter ones may consist of names and numbers


class Reason(Enum):
    """Reasons to remove a pair; if several apply, the first one counts."""

    EMPTY = "empty"  # one side has only white space and control characters
    TOO_LONG = "too long"
    RATIO = "ratio"  # one side is much longer than the other
    IDENTICAL = "identical"  # the same text on both sides: not translated
    COPIED = "copied"  # most words of the target occur in the source
    REPETITION = "repetition"  # a sequence of words repeated many times, as in degenerate translations
    LETTERS = "letters"  # too few characters are letters of the language's script
    LANGUAGE = "language"  # a side is in another language
    DUPLICATE = "duplicate"  # of an earlier pair
    IMPROBABLE = "improbable"  # of the highest cross-entropy per word: see `cross_entropy_filter`


Verdict = Reason | bytes  # The reason to remove a pair, or the digest of one that the rules keep.


@dataclass(frozen=True)
class Cleaning:
    """The bounds of the rules. Lengths are in words, or in other units that `split` of `clean` returns."""

    maximum_length: int = 200  # of the longer side
    maximum_ratio: float = 4.0  # of the longer side to the shorter one
    ratio_slack: int = 5  # by which the longer side may exceed the ratio, because short texts vary by chance
    remove_identical: bool = True
    remove_duplicates: bool = True
    maximum_copied: float = 1.0  # share of the target's words that occur in the source; 1: no limit
    maximum_repetitions: int | None = None  # of a sequence of up to LONGEST_REPEATED words; None: no limit
    languages: tuple[str, str] | None = None  # of source and target, such as uz-Cyrl; needed by the next two
    minimum_letters: float = 0.0  # share of a side's characters without spaces; 0: no limit
    minimum_language_probability: float = 0.0  # of each side's language; 0: languages are not identified

    def __post_init__(self) -> None:
        """Raise ConfigurationError if a bound would remove everything, or needs languages that are not given."""
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
    """Counts of pairs, updated while `clean` runs."""

    kept: int = 0
    removed: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(Reason, 0))

    @property
    def read(self) -> int:
        """Number of pairs read so far."""
        return self.kept + sum(self.removed.values())

    def __str__(self) -> str:
        """Return a summary: "kept 950 of 1000 pairs; left out: 30 too long, 20 duplicate"."""
        counts = ", ".join(f"{count} {reason.value}" for reason, count in self.removed.items() if count)
        return f"kept {self.kept} of {self.read} pairs" + (f"; left out: {counts}" if counts else "")


def clean(
    pairs: Iterable[Pair],
    cleaning: Cleaning,
    report: CleaningReport,
    split: Split = str.split,
    target_split: Split | None = None,
) -> Iterator[Pair]:
    """Yield the pairs that pass all rules, unchanged and in order.

    Pairs are read one at a time. With `remove_duplicates`, a hash of each distinct pair is kept (about 100 bytes).

    Args:
        pairs: (source, target) lines.
        cleaning: the rules.
        report: counts the pairs.
        split: splits a normalized line into words, or into pieces for languages written without spaces.
        target_split: the same for lines of the target; None: `split`.

    Raises ConfigurationError, before the first pair is read, if a language is not known.
    """
    return _clean(pairs, Rules(cleaning, split, target_split), report)


def _clean(pairs: Iterable[Pair], rules: "Rules", report: CleaningReport) -> Iterator[Pair]:
    seen: set[bytes] = set()
    for pair in pairs:
        verdict = rules.judge(pair)
        if isinstance(verdict, bytes) and verdict in seen and rules.cleaning.remove_duplicates:
            verdict = Reason.DUPLICATE
        if isinstance(verdict, Reason):
            report.removed[verdict] += 1
            continue
        report.kept += 1
        if rules.cleaning.remove_duplicates:
            seen.add(verdict)
        yield pair


def knows(language: str) -> bool:
    """Return whether the rules can check the letters and the language of text, by its ISO 639-1 code."""
    return language in known_languages() and language not in NOT_IDENTIFIED


class Rules:
    """Applies the rules to single pairs, with the letters and the language identification that they need."""

    def __init__(self, cleaning: Cleaning, split: Split = str.split, target_split: Split | None = None) -> None:
        """See `clean`; raises ConfigurationError if a language is not known."""
        self.cleaning = cleaning
        self.split, self.target_split = split, target_split or split
        self.letters: tuple[Letters, ...] = ()
        self.identification: LanguageIdentification | None = None
        self.languages = tuple(map(primary_subtag, cleaning.languages or ()))
        if self.languages and cleaning.minimum_letters:
            self.letters = tuple(map(Letters, cleaning.languages or ()))
        if self.languages and cleaning.minimum_language_probability:
            self.identification = LanguageIdentification(self.languages)

    def judge(self, pair: Pair) -> Verdict:
        """Return the reason to remove a pair, or its digest if it is kept unless it is a duplicate."""
        source, target = normalize(pair[0]), normalize(pair[1])
        return self._reason(source, target) or _digest(source, target)

    def _reason(self, source: str, target: str) -> Reason | None:
        if not source or not target:
            return Reason.EMPTY
        reason = self._reason_of_words(self.split(source), self.target_split(target), source == target)
        if reason is not None:
            return reason
        if any(self._lacks_letters(*side) for side in zip((source, target), self.letters, strict=False)):
            return Reason.LETTERS
        if self.identification is not None and self._is_foreign(self.identification, source, target):
            return Reason.LANGUAGE
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
        return letters.count(line) < self.cleaning.minimum_letters * sum(map(len, line.split()))

    def _is_foreign(self, identification: LanguageIdentification, *lines: str) -> bool:
        least = self.cleaning.minimum_language_probability
        sides = zip(lines, self.languages, strict=True)
        return any(identification.probability(line, language) < least for line, language in sides)


def _copied(source: Words, target: Words) -> float:
    """Return the share of the target's words that occur in the source, with multiplicity; 0 for few words."""
    if len(target) < LEAST_COPIED:
        return 0.0
    return (Counter(source) & Counter(target)).total() / len(target)


def _repeats(words: Words, most: int) -> bool:
    """Return whether a sequence of 1 to LONGEST_REPEATED words is repeated more than `most` times."""
    for length in range(1, LONGEST_REPEATED + 1):
        same = 0
        for earlier, later in zip(words, words[length:], strict=False):
            same = same + 1 if earlier == later else 0
            if same == length * most:
                return True
    return False


def _digest(source: str, target: str) -> bytes:
    # A normalized line has no line feed, so different pairs are joined to different texts. Lone surrogates, which are
    # not UTF-8, may come from text read with surrogateescape.
    return blake2b(f"{source}\n{target}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
