"""Checks of translations against their sources: missing words, and placeholders, URLs and numbers that were changed."""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar, copy_context
from functools import partial
from types import FrameType
from typing import Any, Final, NamedTuple, TypeVar

from pocketmt.engine.line_parts import DividedLine
from pocketmt.sentences import NumberFormats, lost_parts
from pocketmt.sentences.word_count import count_words, is_too_long, is_too_short

MOST_WARNINGS: Final = 10  # Further lines are only counted.
_MOST_LOST: Final = 20  # Parts that a warning names.
_MOST_SHOWN: Final = 80  # Characters of such a part.
_RUNNERS: Final = ("asyncio", "concurrent", "threading")  # Modules of Python that call functions of others.

Result = TypeVar("Result")


class TranslationWarning(UserWarning):
    """A translation that may lack text of its source, or text that was copied instead of translated."""


class _Place(NamedTuple):
    """A line of a program, with the global variables of its module."""

    file: str
    line: int
    variables: dict[str, Any]


_SUBMITTED: Final[ContextVar[_Place | None]] = ContextVar("submitted", default=None)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _calling_place() -> _Place:
    """Return the place that called PocketMT, that of a call in the background too."""
    if (submitted := _SUBMITTED.get()) is not None:
        return submitted
    inner = frame = sys._getframe(0)
    while frame.f_back is not None and _module(frame).startswith("pocketmt."):
        inner, frame = frame, frame.f_back
    if _module(frame).partition(".")[0] in _RUNNERS:  # They hide who started them.
        frame = inner
    return _Place(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def _warn(message: str) -> None:
    """Warn at the place that called PocketMT."""
    place = _calling_place()
    module = str(place.variables.get("__name__") or "<string>")
    registry = place.variables.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, TranslationWarning, place.file, place.line, module, registry)


def warning_here(work: Callable[[], Result]) -> Callable[[], Result]:
    """Return work for another thread, whose warnings name the place that calls PocketMT now."""
    context = copy_context()
    context.run(_SUBMITTED.set, _calling_place())
    return partial(context.run, work)


class TranslationChecks:
    """Checks translations in the order of their lines.

    Args:
        report: receives a message for each of the first 10 lines in which something was found, with the number of the
            line, counted from 1; by default it becomes a `TranslationWarning`.
        name_argument: gives the name that the messages have for an argument of `Translator`, such as that of an option;
            by default the argument's own.
        number_line: gives the number that a message has for a line, such as that of its record in a file, from the
            number of the line, counted from 1; by default the same.

    Attributes:
        lines: how many were checked.
        suspicious: in how many something was found.
    """

    def __init__(
        self,
        report: Callable[[str], None] = _warn,
        *,
        name_argument: Callable[[str], str] = str,
        number_line: Callable[[int], int] = int,
    ) -> None:
        self.lines = 0
        self.suspicious = 0
        self._report = report
        self._name_argument = name_argument
        self._number_line = number_line

    def check(
        self, lines: Sequence[DividedLine], translations: Sequence[str], formats: NumberFormats | None = None
    ) -> None:
        """Check the next lines; `formats` are those of the numbers in the lines and the translations."""
        for line, translation in zip(lines, translations, strict=True):
            self.lines += 1
            if found := "; ".join(self._problems(line, translation, formats)):
                self.suspicious += 1
                if self.suspicious <= MOST_WARNINGS:
                    self._report(f"line {self._number_line(self.lines)}: {found}")

    def _problems(self, line: DividedLine, translation: str, formats: NumberFormats | None) -> Iterator[str]:
        if line.copied:
            reason = line.copied[0]
            limit = f" ({self._name_argument(reason.argument)})" if reason.argument else ""
            yield f"text was copied, not translated: {reason.text}{limit}"
            return
        source, translated = count_words(line.line), count_words(translation)
        if is_too_short(source, translated):
            yield f"{source:.0f} words became {translated:.0f}: text may be missing"
        elif is_too_long(source, translated):
            yield f"{source:.0f} words became {translated:.0f}: text may be repeated"
        if lost := lost_parts(line.without_terms, translation, formats=formats):
            more = f" and {len(lost) - _MOST_LOST} more" if len(lost) > _MOST_LOST else ""
            yield f"the translation lacks {', '.join(part[:_MOST_SHOWN] for part in lost[:_MOST_LOST])}{more}"
