"""Lines whose sentences are being translated by the engine."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from pocketmt.engine.devices import TranslationModel
from pocketmt.engine.line_parts import DividedLine, best_text
from pocketmt.engine.options import Search
from pocketmt.engine.protection import LineProtection
from pocketmt.sentences import StandIn, lost_parts, with_parts
from pocketmt.text.vocabulary import Vocabularies

if TYPE_CHECKING:  # Most translations are only texts.
    from pocketmt.engine.results import DetailedHypothesis, Hypothesis

Result = TypeVar("Result")


class PendingLines:
    """Lines that are being translated; the results may be taken once, by one of the methods."""

    def __init__(
        self,
        model: TranslationModel,
        vocabularies: Vocabularies,
        lines: Sequence[DividedLine],
        search: Search,
        protection: LineProtection | None = None,
    ) -> None:
        """Prepare the translation; raises EngineError as `Search.prefixes` does.

        Args:
            model: that translates.
            vocabularies: of the model.
            lines: to translate.
            search: how.
            protection: of the lines. A line whose translation lacks a URL, e-mail address, tag, placeholder or symbol
                is translated again, in other forms. None: it stays as it is.
        """
        self._model = model
        self._vocabularies = vocabularies
        self._lines = list(lines)
        self._protection = protection
        self._again: PendingLines | None = None  # of lines that are translated again
        self._cancelled = False
        self._search = search
        self._counts = [len(line.sentences) for line in lines]
        sources = [[*line.prefix, *ids] for line in lines for ids in line.sentences]
        terms = search.terms_of(text for line in lines for text in line.sentence_texts)
        self._pending = model.submit(sources, search.native, search.prefixes(self._counts), terms)

    def begin(self) -> None:
        """Let idle workers begin the translation, which otherwise begins when a method waits for its results."""
        self._pending.begin()

    def cancel(self) -> None:
        """End the translation: a method that waits for its results raises CancelledError. From any thread."""
        self._cancelled = True
        self._pending.cancel()
        if self._again is not None:
            self._again.cancel()

    def texts(self) -> list[str]:
        """Return the best translation of each line."""
        if self._search.replace_unknowns:
            return [hypotheses[0].text for hypotheses in self.details()]
        search = self._search
        texts = [
            line.join(best_text(self._vocabularies.target, search.shown(hypotheses[0][0])) for hypotheses in sentences)
            for line, sentences in zip(self._lines, self._by_line(self._pending.result()), strict=True)
        ]
        return self._checked(texts, str, PendingLines.texts, with_parts)

    def hypotheses(self) -> "list[list[Hypothesis]]":
        """Return the translations of each line, best first."""
        from pocketmt.engine.results import Hypothesis

        return [[Hypothesis(each.text, each.score) for each in hypotheses] for hypotheses in self.details()]

    def details(self) -> "list[list[DetailedHypothesis]]":
        """Return the translations of each line with details, best first; one empty translation without text."""
        from pocketmt.engine.results import describe_line, hypotheses_with_parts

        results = self._by_line(self._pending.details())
        details = [
            describe_line(self._vocabularies, line, sentences, self._search)
            for line, sentences in zip(self._lines, results, strict=True)
        ]
        return self._checked(
            details, lambda hypotheses: hypotheses[0].text, PendingLines.details, hypotheses_with_parts
        )

    def _checked(
        self,
        results: list[Result],
        text_of: Callable[[Result], str],
        translate: "Callable[[PendingLines], list[Result]]",
        restore: Callable[[Result, Sequence[StandIn]], Result | None],
    ) -> list[Result]:
        """Return the results of all lines, those that lost protected parts translated again by `translate`; check.

        `restore` puts parts in place of their stand-ins; None: it cannot.
        """

        def is_lost(index: int) -> bool:
            return bool(lost_parts(self._lines[index].line, text_of(results[index]), numbers=False))

        if self._protection is not None:
            lost = [index for index in range(len(results)) if is_lost(index)]
            for form in self._protection.forms if lost else ():
                given = {index: line for index in lost if (line := form(index, self._lines[index])) is not None}
                found = translate(self._pending_again([each.line for each in given.values()]))
                for (index, line), result in zip(given.items(), found, strict=True):
                    restored = restore(result, line.stand_ins)
                    if restored is not None:
                        self._lines[index], results[index] = line.line, restored
                lost = [index for index in lost if is_lost(index)]
        if self._search.checks is not None:
            self._search.checks.check(self._lines, [text_of(result) for result in results])
        return results

    def _pending_again(self, lines: Sequence[DividedLine]) -> "PendingLines":
        search = self._search._replace(checks=None)
        self._again = PendingLines(self._model, self._vocabularies, lines, search)
        if self._cancelled:  # before `cancel` could see the new translation
            self._again.cancel()
        return self._again

    def _by_line(self, results: Sequence[Result]) -> Iterator[list[Result]]:
        remaining = iter(results)
        for count in self._counts:
            yield list(islice(remaining, count))
