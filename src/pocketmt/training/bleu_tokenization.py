"""Tokenization for the BLEU of validation text: words, or characters where words are few or not divided by spaces."""

from collections.abc import Sequence
from typing import Final, Literal

from pocketmt.sentences.scripts import is_without_spaces

Tokenization = Literal["13a", "char"]
WORDS: Final = "13a"  # sacreBLEU's default, and that of all scores of earlier versions
_LONGEST_N_GRAM: Final = 4  # of BLEU


def bleu_tokenization(references: Sequence[str]) -> Tokenization:
    """Return sacreBLEU's name of the tokens whose n-grams the BLEU of validation text counts.

    They are words, sacreBLEU's default. They are characters where most text is of a script without spaces, or a
    reference has on average fewer words than BLEU's longest n-gram: BLEU of words is then 0 or noise.
    """
    words = sum(len(line.split()) for line in references)
    return "char" if is_without_spaces(references) or words < _LONGEST_N_GRAM * len(references) else WORDS


def tokenization_metadata(tokenization: Tokenization) -> dict[str, str]:
    """Return what metadata holds beside a BLEU of these tokens; nothing for words."""
    return {} if tokenization == WORDS else {"bleu_tokenization": tokenization}
