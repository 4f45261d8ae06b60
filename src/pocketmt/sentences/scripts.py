"""Letters of scripts without spaces between words."""

import re
from collections.abc import Sequence
from typing import Final

# For a character class of a regular expression.
CHINESE_JAPANESE: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
# Thai, Lao, Burmese, Khmer, Chinese and Japanese.
WITHOUT_SPACES: Final = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{CHINESE_JAPANESE}"


def is_without_spaces(lines: Sequence[str]) -> bool:
    """Return whether most of a text, white space aside, is of scripts without spaces between words."""
    text = "".join("".join(line.split()) for line in lines)
    return 2 * sum(map(len, re.findall(rf"[{WITHOUT_SPACES}]+", text))) > len(text)
