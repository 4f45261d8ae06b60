"""Language identification by py3langid (the extra `clean`), with the model in that package."""

from typing import Final

from pocketmt.errors import ConfigurationError

# With fewer letters the result is mostly chance.
LEAST_LETTERS: Final = 20
# Languages that the model does not know, of those whose script is known.
NOT_IDENTIFIED: Final = frozenset({"bo", "ce", "co", "cv", "mi", "nb", "os", "sd", "sm", "su", "ti", "yi"})


class LanguageIdentification:
    """Estimates the probability that a line is in a language, out of the 139 that the model knows."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        """Load the model, which takes a second; ConfigurationError if it does not know a language (ISO 639-1)."""
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        for language in languages:
            if language not in self._identifier.labels:
                known = ", ".join(sorted(self._identifier.labels))
                raise ConfigurationError(
                    f"the language {language!r} cannot be identified: give --minimum-language-probability 0 to clean "
                    f"without identification, or one of {known}"
                )

    def probability(self, line: str, language: str) -> float:
        """Return the probability that a line is in a language, 0 to 1; 1 for fewer than LEAST_LETTERS letters."""
        if sum(map(str.isalpha, line)) < LEAST_LETTERS:
            return 1.0
        return float(dict(self._identifier.rank(line))[language])
