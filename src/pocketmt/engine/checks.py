"""Checks of translations against their sources: missing words, and placeholders, URLs and numbers that were changed."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Final

from pocketmt.engine.line_parts import DividedLine
from pocketmt.sentences.protected import lost_parts
from pocketmt.sentences.word_count import count_words, is_too_long, is_too_short

MOST_WARNINGS: Final = 10  # Further lines are only counted.
_MOST_LOST: Final = 5  # Parts that a warning names.


class TranslationWarning(UserWarning):
    """A translation that may lack text of its source, or text that was copied instead of translated."""


class TranslationChecks:
    """Checks the lines of one call, in order, and warns about them by `TranslationWarning`."""

    def __init__(self) -> None:
        self._lines = 0
        self._suspicious = 0

    def check(self, lines: Sequence[DividedLine], translations: Sequence[str]) -> None:
        """Check the next lines; each warning names the line, counted from 1, and all that was found in it."""
        for line, translation in zip(lines, translations, strict=True):
            self._lines += 1
            if found := "; ".join(_problems(line, translation)):
                self._suspicious += 1
                if self._suspicious <= MOST_WARNINGS:
                    _warn(f"line {self._lines}: {found}")

    def finish(self) -> None:
        """Warn about the number of lines for which no warning was shown."""
        if (more := self._suspicious - MOST_WARNINGS) > 0:
            _warn(f"{more:,} more line{'' if more == 1 else 's'} with such warnings, of {self._lines:,} lines")


def _problems(line: DividedLine, translation: str) -> Iterator[str]:
    if line.copied:
        yield f"text was copied, not translated: {line.copied[0]}"
    source, translated = count_words(line.line), count_words(translation)
    if is_too_short(source, translated):
        yield f"{source:.0f} words became {translated:.0f}: text may be missing"
    elif is_too_long(source, translated):
        yield f"{source:.0f} words became {translated:.0f}: text may be repeated"
    if lost := lost_parts(line.line, translation):
        more = f" and {len(lost) - _MOST_LOST} more" if len(lost) > _MOST_LOST else ""
        yield f"the translation lacks {', '.join(lost[:_MOST_LOST])}{more}"


def _warn(message: str) -> None:
    # The caller of Translator is above this function, the method of this class and two of the engine.
    warnings.warn(message, TranslationWarning, stacklevel=5)
