"""Makes pairs with other weekdays, months, colours, languages, countries, cities, numbers and so on from parallel text.

Everyday text has some of these words in ten lines and others in a thousand, and a model translates the rare ones badly.

python -m examples.everyday.word_classes TEXT.en TEXT.de --output CLASSES.en CLASSES.de
"""

import argparse
import random
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel

from examples.everyday.number_words import english_number, english_ordinal, german_number, german_ordinal
from examples.everyday.texts import write_pairs
from pocketmt.errors import PocketMTError
from pocketmt.text.corpus import read_pairs

Pair = tuple[str, str]  # An English line and its German translation.

SEED: Final = 1
LISTS: Final = Path(__file__).with_name("word_classes.toml")
ENDINGS: Final = {"never": "", "sometimes": "((?:e[mnrs]?)?)", "always": "(e[mnrs]?)"}
_TIME: Final = re.compile(r"o'clock|quarter|half|\bpast\b|\bUhr\b|\bum (?:zwei|drei|vier|fünf|sechs|sieben|acht|neun)")
_VOWEL: Final = re.compile(r"(?!eu|uk|uni|one)[aeiou]", re.IGNORECASE)


class WordClass(BaseModel, frozen=True):
    """English words that can take each other's place, with their German translations."""

    words: Mapping[str, str]
    copies: int
    endings: Literal["never", "sometimes", "always"] = "never"

    @cached_property
    def english(self) -> re.Pattern[str]:
        """What finds one of the words, with an indefinite article before it."""
        return re.compile(rf"(\ban? )?(?<![\w-])({_any_of(self.words)})(?![\w'’-])", re.IGNORECASE)

    @cached_property
    def german(self) -> re.Pattern[str]:
        """What finds one of the translations and, if the class has them, its ending."""
        words = _any_of(self.words.values())
        return re.compile(rf"(?<![\w-])({words}){ENDINGS[self.endings]}(?![\w'’-])", re.IGNORECASE)

    @cached_property
    def lowercased(self) -> dict[str, str]:
        """The translations by lowercased words."""
        return {english.lower(): german.lower() for english, german in self.words.items()}

    def drawn(self, draw: random.Random, pair: Pair) -> list[str]:
        """Return words for the copies of a pair."""
        return draw.sample(list(self.words), min(self.copies, len(self.words)))


class Numbers(WordClass, frozen=True):
    """Numbers from 2 to 999, mostly of two digits; in times of day, hours."""

    words: Mapping[str, str] = {english_number(number): german_number(number) for number in range(2, 1000)}
    copies: int = 10

    def drawn(self, draw: random.Random, pair: Pair) -> list[str]:
        """Return numbers for the copies of a pair."""
        clock = any(map(_TIME.search, pair))
        return [english_number(draw.randint(2, 12) if clock else _drawn_number(draw)) for _ in range(self.copies)]


class Ordinals(WordClass, frozen=True):
    """Ordinal numbers from 1 to 99, mostly those of dates."""

    words: Mapping[str, str] = {english_ordinal(number): german_ordinal(number) for number in range(1, 100)}
    copies: int = 12
    endings: Literal["never", "sometimes", "always"] = "always"

    def drawn(self, draw: random.Random, pair: Pair) -> list[str]:
        """Return ordinal numbers for the copies of a pair."""
        return [english_ordinal(_drawn_ordinal(draw)) for _ in range(self.copies)]


def main() -> int:
    """Write the pairs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("english", type=Path, help="English side of parallel text")
    parser.add_argument("german", type=Path, help="German side")
    parser.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="files for the sides")
    options = parser.parse_args()
    try:
        write_pairs(with_other_words(read_pairs(options.english, options.german), word_classes()), *options.output)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def word_classes() -> dict[str, WordClass]:
    """Return the classes of the list, numbers and ordinal numbers, by name."""
    listed = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    classes = {name: WordClass.model_validate(entry) for name, entry in listed.items()}
    return {**classes, "numbers": Numbers(), "ordinals": Ordinals()}


def with_other_words(pairs: Iterable[Pair], classes: Mapping[str, WordClass]) -> Iterator[Pair]:
    """Yield copies of the pairs that have one word of a class and its translation, each with another word of it."""
    draw = random.Random(SEED)
    for pair in pairs:
        for words in classes.values():
            for other, _ in with_others_of_class(draw, pair, words):
                yield other


def with_others_of_class(draw: random.Random, pair: Pair, words: WordClass) -> Iterator[tuple[Pair, tuple[str, str]]]:
    """Yield copies of a pair with another word of a class each, and that word with its translation.

    There are none if the pair does not have exactly one word of the class on each side, a word and its translation.
    """
    found, translated = words.english.findall(pair[0]), words.german.findall(pair[1])
    if len(found) != 1 or len(translated) != 1:
        return
    english = found[0][1].lower()
    german = translated[0] if isinstance(translated[0], str) else translated[0][0]
    if words.lowercased[english] != german.lower():
        return
    for other in words.drawn(draw, pair):
        if other.lower() != english:
            german = words.words[other]
            yield (_in_english(words, pair[0], other), _in_german(words, pair[1], german)), (other, german)


def _drawn_number(draw: random.Random) -> int:
    lowest, highest = draw.choices(((4, 20), (21, 99), (100, 999)), (2, 7, 1))[0]
    number = draw.randint(lowest, highest)
    return number - number % 50 if number > 99 and draw.random() < 0.7 else number


def _drawn_ordinal(draw: random.Random) -> int:
    lowest, highest = draw.choices(((2, 12), (13, 31), (32, 99)), (4, 4, 1))[0]
    return draw.randint(lowest, highest)


def _in_english(words: WordClass, line: str, other: str) -> str:
    def written(match: re.Match[str]) -> str:
        article = match[1] and f"{match[1][0]}{'n' if _VOWEL.match(other) else ''} "
        return (article or "") + _as_capitalized(match[2], other)

    return words.english.sub(written, line)


def _in_german(words: WordClass, line: str, other: str) -> str:
    def written(match: re.Match[str]) -> str:
        return _as_capitalized(match[1], other) + "".join(match.groups()[1:])

    return words.german.sub(written, line)


def _as_capitalized(word: str, other: str) -> str:
    return other[0].upper() + other[1:] if word[0].isupper() else other


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first, so that "sixty-four" is not found as "sixty"."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))


if __name__ == "__main__":
    sys.exit(main())
