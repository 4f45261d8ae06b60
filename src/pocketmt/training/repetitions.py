"""Training pairs repeated as users type text: without final punctuation, in lower case, in capitals."""

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from pocketmt.sentences.protected import protected_matches
from pocketmt.text.letter_case import in_capitals, in_lower_case
from pocketmt.training.configuration import Data

TextPair = tuple[str, str]
_SEED: Final = 1
# One mark after a letter or a digit: abbreviations and ellipses keep theirs.
_FINAL_MARK: Final = re.compile(r"(?<=[\w\u0300-\u036f\u0900-\u0e7f])[.!?。！？।؟۔]$")  # vowel signs are no letters
_ABBREVIATION: Final = re.compile(r"(?:\b\w|\.\w+)\.$")


def repetitions(pairs: Iterable[TextPair], data: Data) -> Iterator[TextPair]:
    """Yield every pair, and after it those of its changed copies that are drawn by the shares of a configuration.

    The draw depends on the text and the shares alone. A copy that equals its pair is left out. Pairs with URLs, tags,
    placeholders or the code of a language, such as >>de<<, have no copies in lower case or capitals.
    """
    random = Random(_SEED)
    for pair in pairs:
        yield pair
        draws = random.random(), random.random(), random.random(), random.random()
        copies = []
        if draws[0] < data.repeat_without_punctuation:
            copies.append(without_final_punctuation(pair))
        if draws[1] < data.repeat_in_lower_case and _is_plain(pair):
            source, target = without_final_punctuation(pair) if draws[2] < 0.5 else pair
            copies.append((in_lower_case(source, data.source_language), target))
        if draws[3] < data.repeat_in_capitals and _is_plain(pair):
            copies.append((in_capitals(pair[0], data.source_language), in_capitals(pair[1], data.target_language)))
        yield from (copy for copy in copies if copy != pair)


def _is_plain(pair: TextPair) -> bool:
    return ">>" not in pair[0] and not any(map(protected_matches, pair))


def without_final_punctuation(pair: TextPair) -> TextPair:
    """Return a pair without the mark that ends each side, or as it is if one side does not end with a mark alone."""
    if any(_FINAL_MARK.search(side) is None or _ABBREVIATION.search(side) for side in pair):
        return pair
    source, target = (side[:-1] for side in pair)
    return source, target
