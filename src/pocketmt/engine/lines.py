"""Lines whose sentences are being translated by the engine."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from pocketmt.engine.devices import TranslationModel
from pocketmt.engine.line_parts import DividedLine, best_text
from pocketmt.engine.options import Search
from pocketmt.text.vocabulary import Vocabularies

if TYPE_CHECKING:  # Most translations are only texts.
    from pocketmt.engine.results import DetailedHypothesis, Hypothesis

Result = TypeVar("Result")


class PendingLines:
    """Lines that are being translated; the results may be taken once, by one of the methods."""

    def __init__(
        self, model: TranslationModel, vocabularies: Vocabularies, lines: Sequence[DividedLine], search: Search
    ) -> None:
        """Prepare the translation; raises EngineError as `Search.prefixes` does."""
        self._vocabularies = vocabularies
        self._lines = lines
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
        self._pending.cancel()

    def texts(self) -> list[str]:
        """Return the best translation of each line."""
        if self._search.replace_unknowns:
            return [hypotheses[0].text for hypotheses in self.details()]
        search = self._search
        texts = [
            line.join(best_text(self._vocabularies.target, search.shown(hypotheses[0][0])) for hypotheses in sentences)
            for line, sentences in zip(self._lines, self._by_line(self._pending.result()), strict=True)
        ]
        if self._search.checks is not None:
            self._search.checks.check(self._lines, texts)
        return texts

    def hypotheses(self) -> "list[list[Hypothesis]]":
        """Return the translations of each line, best first."""
        from pocketmt.engine.results import Hypothesis

        return [[Hypothesis(each.text, each.score) for each in hypotheses] for hypotheses in self.details()]

    def details(self) -> "list[list[DetailedHypothesis]]":
        """Return the translations of each line with details, best first; one empty translation without text."""
        from pocketmt.engine.results import describe_line

        results = self._by_line(self._pending.details())
        details = [
            describe_line(self._vocabularies, line, sentences, self._search)
            for line, sentences in zip(self._lines, results, strict=True)
        ]
        if self._search.checks is not None:
            self._search.checks.check(self._lines, [hypotheses[0].text for hypotheses in details])
        return details

    def _by_line(self, results: Sequence[Result]) -> Iterator[list[Result]]:
        remaining = iter(results)
        for count in self._counts:
            yield list(islice(remaining, count))
