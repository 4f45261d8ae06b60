"""References to characters in HTML and subtitles, such as `&amp;` and `&#228;`."""

import html
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern

# Without zeros at the start, the number of a character has at most seven digits; Python converts at most 4,300.
_NUMBER: Final = lazy_pattern(r"&#0*([0-9]{1,8})[0-9]*")


def unescape(text: str) -> str:
    """Return a text with characters for its references, as HTML defines them: too large a number is U+FFFD."""
    return html.unescape(_NUMBER.sub(r"&#\1", text))
