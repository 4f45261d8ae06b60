"""Makes training text of what everyday pairs lack: phrases, nouns, times, amounts, lists, sentences as users type them.

python -m examples.everyday.phrase_book SOURCE TARGET --languages en de --output PHRASES.en PHRASES.de
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Final

from examples.everyday.phrase_book.amounts import amount_pairs
from examples.everyday.phrase_book.as_typed import typed_pairs
from examples.everyday.phrase_book.clock_times import time_pairs
from examples.everyday.phrase_book.dates import date_pairs
from examples.everyday.phrase_book.lists import list_pairs
from examples.everyday.phrase_book.nouns import Pair, noun_pairs
from examples.everyday.phrase_book.tables import read_table
from examples.everyday.texts import write_pairs
from pocketmt.errors import PocketMTError
from pocketmt.text.corpus import read_lines, read_pairs
from pocketmt.text.letter_case import in_lower_case
from pocketmt.training.repetitions import without_final_punctuation

SEED: Final = 1
PHRASES: Final = (
    "essentials", "interface", "travel", "home", "work", "verbs", "messages", "conversation", "stories", "software",
    "services", "english_words", "german_words", "how_to", "everyday", "qualities", "longer", "notices", "chat",
    "facts", "phrasal_verbs", "german_idioms", "rare_english_words", "rare_german_words", "learners", "public_life",
    "health", "constructions", "technology", "informal", "news", "senses", "compound_sentences", "idioms_and_shops",
)  # fmt: skip
# Words as a dictionary lists them, and phrases that a translation word by word gets wrong.
WORDS: Final = "words"
# From German alone: as it is spoken, and words of Austria and Switzerland.
GERMAN_VARIANTS: Final = "german_variants"
COPIES: Final = 3  # of each pair of the phrase book as it is
LABEL_COPIES: Final = 25  # of labels of one or two words, such as "Settings"
MOST_FORMS: Final = 2  # of each pair, at random: without final punctuation, in lower case, both, or with another end
_OTHER_ENDS: Final = {".": "!", "!": "."}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pairs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="source side of parallel text, for sentences as they are typed")
    parser.add_argument("target", type=Path, help="target side")
    parser.add_argument("--languages", nargs=2, required=True, metavar=("SOURCE", "TARGET"), help="en de or de en")
    parser.add_argument(
        "--held-out",
        type=Path,
        nargs="+",
        default=[],
        help="text files whose lines, or columns of lines, are left out in all forms",
    )
    parser.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="files for the sides")
    options = parser.parse_args(arguments)
    try:
        held_out = {_bare(part) for path in options.held_out for line in read_lines(path) for part in line.split("\t")}
        pairs = written_pairs(read_pairs(options.source, options.target), options.languages[0], held_out)
        write_pairs(pairs, *options.output)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def written_pairs(pairs: Iterable[Pair], language: str, held_out: Set[str] = frozenset()) -> Iterator[Pair]:
    """Yield all pairs: a line and its translation.

    Args:
        pairs: everyday sentences with their translations.
        language: of the source: "en" or "de".
        held_out: lines in lower case and without final punctuation, of which no form is yielded.
    """
    draw = random.Random(SEED)

    def allowed(pair: Pair) -> bool:
        return held_out.isdisjoint(map(_bare, pair))

    phrases = [_turned(pair, language) for pair in phrase_pairs(language) if allowed(pair)]
    words = [_turned(pair, language) for pair in word_pairs() if allowed(pair)]
    for pair in phrases:
        yield from _copies(pair, language, LABEL_COPIES if _is_label(pair[0]) else COPIES, draw)
    for pair in words:
        yield from _copies(pair, language, COPIES, draw)
    into_german = language == "en"
    made = (
        noun_pairs(draw),
        time_pairs(draw, into_german=into_german),
        amount_pairs(draw, into_german=into_german),
        date_pairs(draw, into_german=into_german),
        list_pairs(draw, into_german=into_german),
    )
    for part in made:
        yield from (_turned(_as_sentence(pair), language) for pair in part if allowed(pair))
    yield from typed_pairs([*filter(allowed, pairs), *phrases, *words], draw, language)


def phrase_pairs(language: str) -> list[Pair]:
    """Return the English and German pairs of the phrase book from a language, "en" or "de"."""
    tables = PHRASES if language == "en" else (*PHRASES, GERMAN_VARIANTS)
    return [(english, german) for name in tables for english, german in read_table(name, 2)]


def word_pairs() -> list[Pair]:
    """Return English words and short phrases with their German."""
    return [(english, german) for english, german in read_table(WORDS, 2)]


def _is_label(line: str) -> bool:
    return line[-1].isalnum() and line.count(" ") < 2


def _bare(line: str) -> str:
    return line.rstrip(".?!").lower()


def _turned(pair: Pair, language: str) -> Pair:
    return pair if language == "en" else pair[::-1]


def _copies(pair: Pair, language: str, number: int, draw: random.Random) -> Iterator[Pair]:
    source, target = pair
    for _ in range(number):
        yield pair
    bare = without_final_punctuation(pair)
    forms = {bare, (in_lower_case(source, language), target), (in_lower_case(bare[0], language), bare[1])}
    end = _OTHER_ENDS.get(source[-1])
    if end is not None and source[-1] == target[-1]:
        forms.add((source[:-1] + end, target[:-1] + end))
    others = sorted(forms - {pair})
    yield from draw.sample(others, min(MOST_FORMS, len(others)))


def _as_sentence(pair: Pair) -> Pair:
    """Return a pair with capitals where its sentences begin, and one full stop after "p.m." and "etc."."""
    english, german = (re.sub(r"\.\.$", ".", line) for line in pair)
    if not english.endswith((".", "?", "!")) or english.endswith(".m."):
        return english, german
    return english[0].upper() + english[1:], german[0].upper() + german[1:]


if __name__ == "__main__":
    sys.exit(main())
