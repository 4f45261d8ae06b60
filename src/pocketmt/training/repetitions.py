"""Training pairs repeated as users type text: without final punctuation, in lower case, in capitals."""

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from pocketmt.training.configuration import Data

TextPair = tuple[str, str]
_SEED: Final = 1
# One mark after a letter or a digit: abbreviations and ellipses keep theirs.
_FINAL_MARK: Final = re.compile(r"(?<=\w)[.!?。！？]$")
_ABBREVIATION: Final = re.compile(r"(?:\b\w|\.\w+)\.$")


def repetitions(pairs: Iterable[TextPair], data: Data) -> Iterator[TextPair]:
    """Yield every pair, and after it those of its changed copies that are drawn by the shares of a configuration.

    The draw depends on the text and the shares alone. A copy that equals its pair is left out.
    """
    random = Random(_SEED)
    for pair in pairs:
        yield pair
        draws = random.random(), random.random(), random.random(), random.random()
        copies = []
        if draws[0] < data.repeat_without_punctuation:
            copies.append(without_final_punctuation(pair))
        if draws[1] < data.repeat_in_lower_case:
            source, target = without_final_punctuation(pair) if draws[2] < 0.5 else pair
            copies.append((source.lower(), target))
        if draws[3] < data.repeat_in_capitals:
            copies.append((pair[0].upper(), pair[1].upper()))
        yield from (copy for copy in copies if copy != pair)


def without_final_punctuation(pair: TextPair) -> TextPair:
    """Return a pair without the mark that ends each side, or as it is if one side does not end with a mark alone."""
    if any(_FINAL_MARK.search(side) is None or _ABBREVIATION.search(side) for side in pair):
        return pair
    source, target = (side[:-1] for side in pair)
    return source, target
