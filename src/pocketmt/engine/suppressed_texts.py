"""Texts that translations must not have, in the form that the engine's search takes."""

from typing import Final
from weakref import WeakKeyDictionary

from pocketmt.engine import _native
from pocketmt.engine.arguments import check_lines
from pocketmt.errors import EngineError
from pocketmt.text.vocabulary import SPACE, Vocabulary

# The engine's tables, and the time that they take, grow with both.
LONGEST_TEXT: Final = 200  # bytes, with the space before a word
MOST_BYTES: Final = 20_000  # of all texts


def make_suppressed_texts(texts: object, vocabulary: Vocabulary) -> "_native.SuppressedTexts | None":
    """Return the engine's tables of the texts, or None without texts.

    They are those of the last call with this vocabulary if the texts are equal.

    Raises:
        TypeError: it is not a list of strings.
        EngineError: a text is empty or too long, or all together are.
    """
    given = check_lines(texts, "suppressed_texts")
    if not given:
        return None
    last = _last.get(vocabulary)
    if last is None or last[0] != given:
        suppressed = _encoded(given, vocabulary)
        last = given, _native.SuppressedTexts(_surfaces_of(vocabulary), suppressed, SPACE.encode())
        _last[vocabulary] = last
    return last[1]


_last: WeakKeyDictionary[Vocabulary, tuple[list[str], _native.SuppressedTexts]] = WeakKeyDictionary()
_surfaces: WeakKeyDictionary[Vocabulary, list[bytes]] = WeakKeyDictionary()


def _surfaces_of(vocabulary: Vocabulary) -> list[bytes]:
    found = _surfaces.get(vocabulary)
    if found is None:
        found = _surfaces[vocabulary] = vocabulary.surfaces()
    return found


def _encoded(texts: list[str], vocabulary: Vocabulary) -> list[bytes]:
    encoded = []
    for text in texts:
        normalized = vocabulary.normalize(text)
        if not normalized:
            raise EngineError("suppressed_texts contains an empty text: remove it")
        encoded.append((SPACE + normalized.replace(" ", SPACE)).encode("utf-8", "replace"))
        if len(encoded[-1]) > LONGEST_TEXT:
            raise EngineError(
                f"suppressed_texts has {normalized!r:.40}, which is longer than {LONGEST_TEXT} bytes: shorten it"
            )
    total = sum(map(len, encoded))
    if total > MOST_BYTES:
        raise EngineError(f"suppressed_texts has {total:,} bytes, the limit is {MOST_BYTES:,}: leave some texts out")
    return encoded
