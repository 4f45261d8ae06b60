"""Which language a line is in, by py3langid (the extra `clean`), whose model comes with the package."""

from typing import Final

from pocketmt.errors import ConfigurationError

# With fewer letters than that, what is found is mostly chance.
LEAST_LETTERS: Final = 20


class LanguageIdentification:
    """Tells how likely a line is in a language, among all that the model knows (139 of them)."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        """Load the model, a second; ConfigurationError where it does not know one of the languages (ISO 639-1)."""
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        for language in languages:
            if language not in self._identifier.labels:
                known = ", ".join(sorted(self._identifier.labels))
                raise ConfigurationError(f"the language {language!r} cannot be identified: give one of {known}")

    def probability(self, line: str, language: str) -> float:
        """Return the probability that a line is in a language, 0 to 1; 1 for a line of less than LEAST_LETTERS."""
        if sum(map(str.isalpha, line)) < LEAST_LETTERS:
            return 1.0
        return float(dict(self._identifier.rank(line))[language])
