"""The tokens whose n-grams the BLEU of an evaluation counts."""

import re
from collections.abc import Sequence
from typing import Final

from pocketmt.sentences.scripts import WITHOUT_SPACES, is_without_spaces

WORDS: Final = "13a"
_CHINESE: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA: Final = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_LEAST_KANA: Final = 20  # Japanese has more than one in this number of characters; quotations in Chinese are rarer.


def evaluation_tokenization(references: Sequence[str]) -> str:
    """Return sacreBLEU's name of the tokens that the BLEU of a text counts.

    They are words (13a, sacreBLEU's default) where most text is of scripts with spaces. Chinese has sacreBLEU's "zh":
    characters, and words of other scripts. Japanese, Thai, Lao, Burmese and Khmer have characters: their words are
    found only with dictionaries, which sacreBLEU does not bring.
    """
    if not is_without_spaces(references):
        return WORDS
    text = "".join(references)
    if _LEAST_KANA * len(_KANA.findall(text)) > len(text):
        return "char"
    unspaced = len(re.findall(f"[{WITHOUT_SPACES}]", text))
    is_chinese = 2 * len(_CHINESE.findall(text)) > unspaced  # Thai or Khmer may quote Chinese.
    return "zh" if is_chinese else "char"
