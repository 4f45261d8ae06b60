"""Lines whose sentences are being translated by the engine."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from pocketmt.engine import _native
from pocketmt.engine.devices import TranslationModel
from pocketmt.engine.line_parts import DividedLine
from pocketmt.engine.options import Search
from pocketmt.engine.results import (
    DetailedHypothesis,
    Hypothesis,
    best_text,
    describe,
    join,
    source_pieces,
    without_prefixes,
)
from pocketmt.text.vocabulary import Vocabularies

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

    def hypotheses(self) -> list[list[Hypothesis]]:
        """Return the translations of each line, best first."""
        return [[Hypothesis(each.text, each.score) for each in hypotheses] for hypotheses in self.details()]

    def details(self) -> list[list[DetailedHypothesis]]:
        """Return the translations of each line with details, best first; one empty translation without text."""
        results = self._by_line(self._pending.details())
        details = [self._line(line, sentences) for line, sentences in zip(self._lines, results, strict=True)]
        if self._search.checks is not None:
            self._search.checks.check(self._lines, [hypotheses[0].text for hypotheses in details])
        return details

    def _line(self, line: DividedLine, sentences: list[list["_native.Details"]]) -> list[DetailedHypothesis]:
        prefix = len(line.prefix)
        described = [
            [
                describe(self._vocabularies, pieces, without_prefixes(each, prefix, self._search), self._search)
                for each in hypotheses
            ]
            for pieces, hypotheses in zip(
                source_pieces(self._vocabularies.source, line.text, line.sentences), sentences, strict=True
            )
        ]
        if not described:
            return [join(line, [], self._search)]
        # A sentence may have fewer than n_best translations.
        return [join(line, parts, self._search) for parts in zip(*described, strict=False)]

    def _by_line(self, results: Sequence[Result]) -> Iterator[list[Result]]:
        remaining = iter(results)
        for count in self._counts:
            yield list(islice(remaining, count))
