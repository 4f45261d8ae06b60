"""The letters of the script that a language is written in."""

from collections.abc import Iterable
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.text.language_tags import primary_subtag, script_subtag

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
# Codes of ISO 15924 that are no Unicode scripts -> the scripts of their letters.
_COMBINED: Final = {
    **{"Aran": "Arabic", "Hans": "Han", "Hant": "Han", "Latf": "Latin", "Latg": "Latin"},
    **{"Cyrs": "Cyrillic", "Hrkt": "Hiragana Katakana", "Jpan": "Han Hiragana Katakana", "Kore": "Hangul Han"},
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
        """Take a language tag: its script, such as that of uz-Cyrl, or the one that the language is written in.

        Raises ConfigurationError if the script is not known.
        """
        import regex  # type: ignore[import-untyped]

        primary, script = primary_subtag(language), script_subtag(language)
        names = _COMBINED.get(script, script) or _SCRIPTS.get(primary, "")
        scripts = "".join(rf"\p{{Script_Extensions={name}}}" for name in names.split())
        try:
            self._pattern = regex.compile(_LETTERS % scripts, regex.VERSION1)  # Without a script, it is no pattern.
        except regex.error as error:
            known = ", ".join(sorted(_SCRIPTS))
            raise ConfigurationError(
                f"no script is known for the language {language!r}: add its script as in '{primary}-Latn', give "
                f"--minimum-letters 0 to clean without the rule of letters, or give one of {known}"
            ) from error

    def count(self, text: str) -> int:
        """Return the number of characters of a text that are letters of the script."""
        return len(self._pattern.findall(text))
