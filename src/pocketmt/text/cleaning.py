"""Cleaning parallel text: pairs that would harm training are left out, and counted by reason."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b

from pocketmt.errors import ConfigurationError
from pocketmt.text.normalization import normalize

Pair = tuple[str, str]
_DIGEST_BYTES = 16  # two of a billion different pairs are taken for the same once in 10^20 corpora


class Reason(Enum):
    """Why a pair is left out; a pair with several reasons counts under the first of them in this order."""

    EMPTY = "empty"  # nothing but white space and control characters on one side
    TOO_LONG = "too long"
    RATIO = "ratio"  # one side is much longer than the other
    IDENTICAL = "identical"  # the same text on both sides: not translated
    DUPLICATE = "duplicate"  # the same two texts were there before


@dataclass(frozen=True)
class Cleaning:
    """What is left out. Lengths are in the unit of the `length` that `clean` is given: words, unless told otherwise."""

    maximum_length: int = 200  # of the longer side
    maximum_ratio: float = 4.0  # of the longer side to the shorter one
    ratio_slack: int = 5  # by so much the longer side may exceed the ratio: short texts differ much by chance
    remove_identical: bool = True
    remove_duplicates: bool = True

    def __post_init__(self) -> None:
        """Raise ConfigurationError where a bound would leave out everything."""
        if self.maximum_length < 1:
            raise ConfigurationError(f"maximum_length is {self.maximum_length}: it must be at least 1")
        if not self.maximum_ratio >= 1:
            raise ConfigurationError(f"maximum_ratio is {self.maximum_ratio}: it must be at least 1")
        if self.ratio_slack < 0:
            raise ConfigurationError(f"ratio_slack is {self.ratio_slack}: it must not be negative")


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


def count_words(line: str) -> int:
    """Return the number of words, as white space divides them."""
    return len(line.split())


def clean(
    pairs: Iterable[Pair], cleaning: Cleaning, report: CleaningReport, length: Callable[[str], int] = count_words
) -> Iterator[Pair]:
    """Yield the pairs that are good for training, as they came and in their order.

    Pairs are read one at a time. A hash of each distinct pair is kept (some 100 bytes, however long the texts are),
    and nothing where `remove_duplicates` is off.

    Args:
        pairs: (source, target) lines.
        cleaning: what is left out.
        report: is counted up.
        length: of a normalized line: words, or pieces of a vocabulary for a language that is written without spaces.
    """
    seen: set[bytes] = set()
    for pair in pairs:
        reason = _reason(normalize(pair[0]), normalize(pair[1]), cleaning, length, seen)
        if reason is None:
            report.kept += 1
            yield pair
        else:
            report.removed[reason] += 1


def _reason(
    source: str, target: str, cleaning: Cleaning, length: Callable[[str], int], seen: set[bytes]
) -> Reason | None:
    if not source or not target:
        return Reason.EMPTY
    shorter, longer = sorted((length(source), length(target)))
    if longer > cleaning.maximum_length:
        return Reason.TOO_LONG
    if longer > cleaning.maximum_ratio * shorter + cleaning.ratio_slack:
        return Reason.RATIO
    if cleaning.remove_identical and source == target:
        return Reason.IDENTICAL
    if cleaning.remove_duplicates:
        digest = _digest(source, target)
        if digest in seen:
            return Reason.DUPLICATE
        seen.add(digest)
    return None


def _digest(source: str, target: str) -> bytes:
    # A normalized line holds no line feed, so that no two different pairs are joined to the same text. Lone surrogates,
    # which are not UTF-8, may still come from text read with surrogateescape.
    return blake2b(f"{source}\n{target}".encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
