"""The letters of the script that a language is written in."""

from collections.abc import Iterable
from typing import Final

from pocketmt.errors import ConfigurationError

# Unicode scripts -> ISO 639-1 codes of the languages that are written in them.
_LANGUAGES: Final = {
    "Latin": (
        "af an az br bs ca co cs cy da de en eo es et eu fi fo fr fy ga gd gl ha hr ht hu id ig is it jv ku la lb lt "
        "lv mg mi ms mt nb nl nn no oc pl pt qu ro rw se sk sl sm sn so sq st su sv sw tk tl tr uz vi wa xh yo zu"
    ),
    "Cyrillic": "ba be bg ce cv kk ky mk mn os ru tg tt uk",
    "Cyrillic Latin": "sr",
    "Greek": "el",
    "Arabic": "ar fa ps sd ug ur",
    "Hebrew": "he yi",
    "Devanagari": "hi mr ne sa",
    "Bengali": "as bn",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Oriya": "or",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Thai": "th",
    "Lao": "lo",
    "Khmer": "km",
    "Myanmar": "my",
    "Tibetan": "bo dz",
    "Georgian": "ka",
    "Armenian": "hy",
    "Ethiopic": "am ti",
    "Hangul": "ko",
    "Han": "zh",
    "Han Hiragana Katakana": "ja",
}
_SCRIPTS: Final = {language: scripts for scripts, languages in _LANGUAGES.items() for language in languages.split()}
# By script extensions the prolonged sound mark, too, is a letter of Hiragana and Katakana. Not counted are ordinal
# indicators (as in "100ºC"), ideographic marks that are not ideographs, and halfwidth and fullwidth forms.
_LETTERS: Final = r"[[%s]&&[\p{Letter}\p{Mark}]--[ªº々〆\p{Block=Halfwidth_and_Fullwidth_Forms}]]"


def known_languages() -> Iterable[str]:
    """Return the ISO 639-1 codes of the languages whose script is known."""
    return _SCRIPTS.keys()


class Letters:
    """Counts the letters, and the marks on them, of a language's script."""

    def __init__(self, language: str) -> None:
        """Take an ISO 639-1 code; ConfigurationError if the language's script is not known."""
        import regex  # type: ignore[import-untyped]

        if language not in _SCRIPTS:
            known = ", ".join(sorted(_SCRIPTS))
            raise ConfigurationError(f"no script is known for the language {language!r}: give one of {known}")
        scripts = "".join(rf"\p{{Script_Extensions={script}}}" for script in _SCRIPTS[language].split())
        self._pattern = regex.compile(_LETTERS % scripts, regex.VERSION1)

    def count(self, text: str) -> int:
        """Return the number of characters of a text that are letters of the script."""
        return len(self._pattern.findall(text))
