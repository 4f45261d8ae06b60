"""Detection of the language of a text, out of the languages of the models, by py3langid."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_LONGEST: Final = 2_000  # characters that are looked at
_LEAST_CONFIDENCE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Detected:
    """A language, and the confidence in it: 0 to 100."""

    language: str
    confidence: float


class LanguageDetector:
    """Finds the language of a text among some languages.

    Args:
        languages: codes of at least one language; one that py3langid does not know is never found.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

        self._languages: Final = tuple(languages)
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        known: dict[str, str] = {}
        for code in self._languages:
            primary = code.replace("_", "-").partition("-")[0].lower()
            if primary in identifier.labels:
                known.setdefault(primary, code)
        self._codes: Final = known
        if known:
            identifier.set_languages(known)
        self._identifier = identifier

    def detect(self, text: str) -> list[Detected]:
        """Return the languages that a text may be in, at least one, most probable first."""
        text = text[:_LONGEST]
        if not self._codes or not any(map(str.isalpha, text)):
            return [Detected(self._languages[0], 0.0)]
        ranked = [
            Detected(self._codes[label], round(100 * float(probability), 1))
            for label, probability in self._identifier.rank(text)
        ]
        return [each for each in ranked if each.confidence >= _LEAST_CONFIDENCE] or ranked[:1]
