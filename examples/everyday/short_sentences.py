"""Repeats the shortest sentences of parallel text as users type them: without final punctuation and in lower case.

Training repeats a share of all pairs so. Of the shortest, which users type first, that is too little: a model that has
seen "Hi." twice in 160,000 pairs makes other words of "hi".

python -m examples.everyday.short_sentences SOURCE TARGET --language en --output SHORT.en SHORT.de
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from examples.everyday.texts import write_pairs
from pocketmt.errors import PocketMTError
from pocketmt.text.corpus import read_pairs
from pocketmt.text.letter_case import in_lower_case
from pocketmt.training.repetitions import without_final_punctuation

Pair = tuple[str, str]  # A line and its translation.

COPIES: Final = {1: 8, 2: 4, 3: 1}  # of a pair in each form, by the words of its source


def main() -> int:
    """Write the pairs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="source side of parallel text")
    parser.add_argument("target", type=Path, help="target side")
    parser.add_argument("--language", required=True, help="of the source, such as en")
    parser.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="files for the sides")
    options = parser.parse_args()
    try:
        write_pairs(as_typed(read_pairs(options.source, options.target), options.language), *options.output)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def as_typed(pairs: Iterable[Pair], language: str) -> Iterator[Pair]:
    """Yield the pairs with a short source without final punctuation, in lower case, and both.

    Args:
        pairs: of lines.
        language: of the source, as a code.
    """
    for pair in pairs:
        source, target = pair
        bare = without_final_punctuation(pair)
        forms = (bare, (in_lower_case(source, language), target), (in_lower_case(bare[0], language), bare[1]))
        for _ in range(COPIES.get(len(source.split()), 0)):
            yield from (form for form in dict.fromkeys(forms) if form != pair)


if __name__ == "__main__":
    sys.exit(main())
