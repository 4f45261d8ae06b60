"""Lines of a text that are copied instead of translated, which training text should not have."""

from collections.abc import Callable
from functools import cached_property
from typing import Final

from pocketmt.engine.languages import ChosenLanguages, ModelLanguages
from pocketmt.engine.line_parts import LineDivider
from pocketmt.engine.translator import LONGEST_SEGMENT, LONGEST_SENTENCE
from pocketmt.model_file.manifest import DEFAULT_UNIT
from pocketmt.sentences.copied import LONGEST_WORD
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.vocabulary import Vocabularies


class CopiedLines:
    """Counts the lines of which a `Translator` copied text, because they cannot be translated.

    Args:
        vocabularies: of the model.
        languages: codes of its source and target.
        unit: what it translates at once, see `pocketmt.model_file.manifest.UNITS`.
    """

    def __init__(self, vocabularies: Vocabularies, languages: tuple[str, str], unit: str) -> None:
        self._vocabularies = vocabularies
        self._languages = languages
        self._split: Final = unit == DEFAULT_UNIT
        self._lines = 0
        self._copied = 0
        self._first = ""

    def add(self, line: str, translation: str) -> None:
        """Look at the next line, and at its translation: only long lines, and those that equal it, are divided."""
        self._lines += 1
        if (len(line) > LONGEST_WORD or line.strip() == translation.strip()) and (reason := self._reason(line)):
            self._copied += 1
            self._first = self._first or f"line {self._lines:,}: {reason}"

    def report(self, name: str, remedy: str, warn: Callable[[str], None]) -> None:
        """Warn if text was copied.

        Args:
            name: of the text.
            remedy: what to do, at the end of the message.
            warn: receives the message.
        """
        if self._copied:
            lines = "1 line has" if self._copied == 1 else f"{self._copied:,} lines have"
            first = "" if self._copied == 1 else "first "
            warn(f"{name}: {lines} text that was copied, not translated ({first}{self._first}): {remedy}")

    def _reason(self, line: str) -> str:
        source, target = self._languages
        _, text = self._divider.named_and_text(line)
        chosen = ChosenLanguages(source, target, primary_subtag(source))
        reasons = (span.reason.text for span in self._divider.spans(text, chosen, split=self._split) if span.reason)
        return next(filter(None, reasons), "")

    @cached_property
    def _divider(self) -> LineDivider:
        languages = ModelLanguages(self._languages, None, self._vocabularies)
        return LineDivider(
            self._vocabularies.source, languages, longest_segment=LONGEST_SEGMENT, longest_sentence=LONGEST_SENTENCE
        )
