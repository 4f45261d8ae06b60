"""Lines whose sentences are being translated by the engine."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pocketmt.engine.devices import TranslationModel
from pocketmt.engine.line_parts import DividedLine, best_text
from pocketmt.engine.options import Search
from pocketmt.engine.protection import LineProtection, ProtectedLine
from pocketmt.sentences import StandIn, with_parts
from pocketmt.text.vocabulary import Vocabularies

if TYPE_CHECKING:  # Most translations are only texts.
    from pocketmt.engine.results import DetailedHypothesis, Hypothesis

Result = TypeVar("Result")


class _Kind(NamedTuple, Generic[Result]):
    """What a method returns of a line.

    Attributes:
        text_of: the best translation.
        translate: the method.
        restore: puts parts in place of their stand-ins; None: it cannot.
        rewrite: does so in each translation, with its stand-ins, if it can.
        join: makes the result of a line from those of its sentences.
    """

    text_of: Callable[[Result], str]
    translate: "Callable[[PendingLines], list[Result]]"
    restore: Callable[[Result, Sequence[StandIn]], Result | None]
    rewrite: Callable[[Result, Callable[[str], Sequence[StandIn]]], Result]
    join: Callable[[DividedLine, Sequence[Result]], Result]


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
            protection: of the lines. A line without a prefix, whose translation lacks a URL, placeholder, tag, symbol,
                exact number or unknown word, is translated again, in other forms. None: it stays as it is.
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
        terms = [of_sentence for line in lines for of_sentence in line.terms]
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
        return self._checked(texts, _Kind(str, PendingLines.texts, with_parts, _rewritten, DividedLine.join))

    def hypotheses(self) -> "list[list[Hypothesis]]":
        """Return the translations of each line, best first."""
        from pocketmt.engine.results import Hypothesis

        return [[Hypothesis(each.text, each.score) for each in hypotheses] for hypotheses in self.details()]

    def details(self) -> "list[list[DetailedHypothesis]]":
        """Return the translations of each line with details, best first; one empty translation without text."""
        from pocketmt.engine.results import (
            describe_line,
            hypotheses_rewritten,
            hypotheses_with_parts,
            join_lines,
        )

        results = self._by_line(self._pending.details())
        details = [
            describe_line(self._vocabularies, line, sentences, self._search)
            for line, sentences in zip(self._lines, results, strict=True)
        ]
        join = partial(join_lines, search=self._search)
        restore, rewrite = hypotheses_with_parts, hypotheses_rewritten
        return self._checked(details, _Kind(_best_text, PendingLines.details, restore, rewrite, join))

    def _checked(self, results: list[Result], kind: "_Kind[Result]") -> list[Result]:
        """Return the results of all lines, those that lost protected parts translated again; check."""
        protection = self._protection
        if protection is not None:
            free = [index for index in range(len(self._lines)) if not self._search.has_prefix(index)]
            lost = [i for i in free if protection.is_lost(self._lines[i], kind.text_of(results[i]))]
            lost = self._protect_sentences(lost, protection, results, kind)
            for form, whole in protection.forms if lost else ():
                given: dict[int, ProtectedLine] = {}
                for index in lost:
                    line, text = self._lines[index], kind.text_of(results[index])
                    if protection.is_lost(line, text, whole=whole) and (found := form(index, line, text)) is not None:
                        given[index] = found
                self._translate_again(given, protection, results, kind)
            for index in free:
                for find in (protection.kept_decimals, protection.names_in_another_case):
                    results[index] = kind.rewrite(results[index], partial(find, self._lines[index]))
        if self._search.checks is not None:
            texts = [kind.text_of(result) for result in results]
            self._search.checks.check(self._lines, texts, self._search.languages.number_formats)
        return results

    def _translate_again(
        self,
        given: "dict[int, ProtectedLine]",
        protection: LineProtection,
        results: list[Result],
        kind: "_Kind[Result]",
    ) -> None:
        """Translate lines by index in another form.

        A result is kept if it has the parts of all stand-ins, and lacks fewer parts than the one before, or fewer words
        and no more parts.
        """
        found = kind.translate(self._pending_again([each.line for each in given.values()]))
        for (index, line), result in zip(given.items(), found, strict=True):
            restored = kind.restore(result, line.stand_ins)
            if restored is None:
                continue
            if line.stand_ins:
                before, after = kind.text_of(results[index]), kind.text_of(restored)
                if protection.count_lost(line.line, after) >= protection.count_lost(line.line, before):
                    continue
            self._lines[index], results[index] = line.line, restored

    def _protect_sentences(
        self, lost: list[int], protection: LineProtection, results: list[Result], kind: "_Kind[Result]"
    ) -> list[int]:
        """Translate lines of several sentences again, each sentence protected by itself; return the other lines."""
        divided = {index: given for index in lost if (given := protection.sentences(index, self._lines[index]))}
        lines, of_sentences = protection.of_sentences([text for _, texts in divided.values() for text in texts])
        found = iter(kind.translate(self._pending_again(lines, of_sentences)) if lines else ())
        for index, (line, texts) in divided.items():
            self._lines[index], results[index] = line, kind.join(line, list(islice(found, len(texts))))
        return [index for index in lost if index not in divided]

    def _pending_again(self, lines: Sequence[DividedLine], protection: LineProtection | None = None) -> "PendingLines":
        search = self._search._replace(checks=None, prefix=[], line_prefixes=None)  # Lines with one are not lost.
        self._again = PendingLines(self._model, self._vocabularies, lines, search, protection)
        if self._cancelled:  # before `cancel` could see the new translation
            self._again.cancel()
        return self._again

    def _by_line(self, results: Sequence[Result]) -> Iterator[list[Result]]:
        remaining = iter(results)
        for count in self._counts:
            yield list(islice(remaining, count))


def _best_text(hypotheses: "Sequence[DetailedHypothesis]") -> str:
    return hypotheses[0].text


def _rewritten(text: str, find: Callable[[str], Sequence[StandIn]]) -> str:
    found = with_parts(text, find(text))
    return text if found is None else found
