"""Division of a line into parts: text that is copied, and the piece ids of sentences to translate."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from pocketmt.engine.abbreviations import Abbreviations
from pocketmt.engine.capitals import lowered
from pocketmt.engine.languages import ChosenLanguages, ModelLanguages
from pocketmt.engine.quotation_marks import QuotationMarks
from pocketmt.engine.segmentation import encode_line
from pocketmt.engine.unknown_words import UnknownWords
from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences import Reason, Span, translation_spans
from pocketmt.text.letter_case import NO_CAPITALS, Capitals, with_capitals
from pocketmt.text.normalization import remove_invisible, replace_controls, replace_surrogates
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.text.word_filter import WordFilter

if TYPE_CHECKING:
    from pocketmt.engine.options import Search
    from pocketmt.engine.terms import Term, Terms

# Between the lines of a text: the characters that always break a line in Unicode.
LINE_BREAK: Final = lazy_pattern(r"(\r\n|[\n\v\f\r\x85\u2028\u2029])")
_FINAL_MARK: Final = lazy_pattern(r"(?<=\S)[.!?…。！？]+$")
_UNKNOWN_SCRIPT: Final = Reason("the model knows hardly any of its letters")
# All but tabs and spaces: a program could take it for the end of a line.
_UNUSUAL: Final = lazy_pattern(r"[^\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


class DividedLine(NamedTuple):
    """A line of text as parts.

    Attributes:
        line: the whole line, without invisible characters.
        text: what is translated of the line.
        parts: in order; a string is copied to the translation, a list of piece ids is translated. None for a line
            without text.
        sentence_texts: of the parts that are translated.
        copied: why some of its text is copied although it may have words; empty for ordinary text.
        prefix: ids that each sentence begins with, before those of its text.
        in_parts: whether the parts that are translated are parts of sentences.
        capitals: of these parts, which capitals the translation is given, since the source has them; empty: none.
        target_language: code of the language of the translation.
        suppressed_texts: that capitals may not bring about.
        terms: that the translation of each of these parts must have; empty if the search has none.
        source_terms: start and end of each source term in the line.
    """

    line: str
    text: str = ""
    parts: Sequence[str | list[int]] = ()
    copied: Sequence[Reason] = ()
    prefix: Sequence[int] = ()
    sentence_texts: Sequence[str] = ()
    in_parts: bool = False
    capitals: Sequence[Capitals] = ()
    target_language: str = ""
    suppressed_texts: Sequence[str] = ()
    terms: "Sequence[list[Term]]" = ()
    source_terms: Sequence[tuple[int, int]] = ()

    @property
    def without_terms(self) -> str:
        """The line with spaces in place of its source terms, which the translation does not need."""
        line = self.line
        for start, end in self.source_terms:
            line = line[:start] + " " * (end - start) + line[end:]
        return line

    @property
    def sentences(self) -> list[list[int]]:
        """Piece ids of the parts that are translated."""
        return [part for part in self.parts if not isinstance(part, str)]

    def join(self, translations: Iterable[str]) -> str:
        """Return the translation of the line from those of its sentences."""
        if self.in_parts:
            translations = map(without_added_mark, self.sentence_texts, translations)
        if self.capitals:
            translations = (
                self.with_capitals(text, capitals) for text, capitals in zip(translations, self.capitals, strict=True)
            )
        remaining = iter(translations)
        return "".join(part if isinstance(part, str) else next(remaining) for part in self.parts)

    def with_capitals(self, translation: str, capitals: Capitals) -> str:
        """Return the translation of a part with capitals, or as it is if it would have a suppressed text with them."""
        changed = with_capitals(translation, capitals, self.target_language)
        begins = (re.compile(rf"(?<!\w){re.escape(text)}") for text in self.suppressed_texts)
        return translation if any(text.search(changed) and not text.search(translation) for text in begins) else changed


class LineDivider:
    """Divides lines for one model.

    Attributes:
        unknown_words: finds the words of a text that the model does not know.

    Args:
        vocabulary: of the model.
        languages: of the model.
        longest_segment: in pieces; a longer sentence is translated in segments, as `encode_line` divides it.
        longest_sentence: in characters; a longer one is copied.
        known_words: of the model file.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        languages: ModelLanguages,
        *,
        longest_segment: int,
        longest_sentence: int,
        known_words: WordFilter | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._languages = languages
        self._quotation_marks = QuotationMarks(vocabulary)
        self._abbreviations = Abbreviations(vocabulary)
        self.unknown_words = UnknownWords(vocabulary, known_words)
        self._longest_segment = longest_segment
        self._longest_sentence = longest_sentence

    def named_and_text(self, line: str) -> tuple[str, str]:
        """Return the target language that a line begins with, as it is written there, and the visible text after it."""
        line = _visible(line)
        _, text = self._languages.named_by(line)
        return line.removesuffix(text), text

    def spans(
        self,
        text: str,
        languages: ChosenLanguages,
        *,
        split: bool,
        protect: bool = False,
        marks: bool = True,
        terms: "Terms | None" = None,
    ) -> Iterator[Span]:
        """Yield the sentences of a visible text and what is copied of it.

        Marks and text in unknown scripts are not copied if `marks` is False, nor if that would lose a term.
        """
        divided = partial(
            translation_spans, text, languages.sentences, split=split, longest=self._longest_sentence, protect=protect
        )
        spans = list(divided(marks=marks))
        if marks and terms is not None and terms.find(text):
            whole = list(divided(marks=False))
            spans = spans if _matched(terms, text, spans) == _matched(terms, text, whole) else whole
        for span in spans:
            given = text[span.start : span.end]
            is_unknown = marks and span.reason is None and self.unknown_words.is_in_unknown_script(given)
            is_unknown = is_unknown and (terms is None or not terms.find(given))
            yield span._replace(reason=_UNKNOWN_SCRIPT) if is_unknown else span

    def places_of_terms(
        self, text: str, languages: ChosenLanguages, terms: "Terms", *, split: bool
    ) -> list[tuple[int, int]]:
        """Return start and end of the source terms in the sentences of a visible text."""
        return [
            (span.start + start, span.start + end)
            for span in self.spans(text, languages, split=split, terms=terms)
            if span.reason is None
            for start, end in terms.places(text[span.start : span.end])
        ]

    def divide_for(
        self, line: str, search: "Search", *, has_prefix: bool = False, protect: bool = False
    ) -> DividedLine:
        """Divide a line as the options of a translation say; raises as `divide` does.

        What has to begin with a given text cannot be put together from parts, and the case of that text counts.
        """
        divided = self.divide(
            line,
            search.languages,
            split=search.split,
            protect=protect,
            capitals=not has_prefix,
            marks=not has_prefix,
            terms=search.terms,
        )
        if search.terms is not None:
            places = self.places_of_terms(divided.line, search.languages, search.terms, split=search.split)
            divided = divided._replace(source_terms=places)
        return divided._replace(suppressed_texts=search.suppressed_texts) if search.suppressed_texts else divided

    def divide(
        self,
        line: str,
        languages: ChosenLanguages,
        *,
        split: bool,
        protect: bool = False,
        capitals: bool = True,
        marks: bool = True,
        terms: "Terms | None" = None,
    ) -> DividedLine:
        """Divide a line into sentences, or take it for one sentence if it is not to be split.

        `protect` divides sentences further: URLs, e-mail addresses, tags, placeholders and symbols are then copied.
        The source language selects the abbreviations that end no sentence. A line may begin with the target language,
        if the model finds it there; it is no part of its text.

        The white space around sentences is a part, too, so it stays as it is. But line breaks at the end are left out,
        and others become a space, so that one line gives one line. Invisible characters are removed first: they would
        hide ends of sentences, and a line of nothing else is blank.

        `capitals` puts sentences and words in capitals, and the first letter of labels, in lower case if the vocabulary
        hardly knows them otherwise; not in sentences with terms, whose case counts. `marks` and `terms` are those of
        `spans`. Raises EngineError if the line must name the target language, but does not.
        """
        named, line = self._languages.named_by(_visible(line))
        texts: list[str] = []
        parts: list[str | list[int]] = []
        reasons: list[Reason] = []
        sentence_texts: list[str] = []
        were_capitals: list[Capitals] = []
        required: list[list[Term]] = []
        end = 0
        for span in self.spans(line, languages, split=split, protect=protect, marks=marks, terms=terms):
            given = line[span.start : span.end]
            text, were = given, NO_CAPITALS
            if span.reason is None:
                text, were = self._as_known(given, languages, capitals, terms, begins=not (protect and parts))
            segments = encode_line(self._vocabulary, text, self._longest_segment) if span.reason is None else []
            found = _spaced(segments) if span.reason is None else copied(text)
            if not found:
                continue
            if span.start > end:
                parts.append(plain_spaces(line[end : span.start]))
            parts += found
            if span.reason is None:
                texts.append(text)
                sentence_texts += [text] if len(segments) == 1 else map(self._vocabulary.decode, segments)
                required += _required(terms, given, sentence_texts[-len(segments) :])
                were_capitals += [were] * len(segments)
            elif span.reason.text:
                reasons.append(span.reason)
            end = span.end
        if parts and end < len(line):
            parts.append(plain_spaces(line[end:]))
        prefix = languages.prefix(named) if texts else []
        divided = DividedLine(line, " ".join(texts), parts, reasons, prefix, sentence_texts, terms=required)
        if set(were_capitals) - {NO_CAPITALS}:
            return divided._replace(capitals=were_capitals, target_language=languages.target)
        return divided

    def _as_known(
        self, given: str, languages: ChosenLanguages, capitals: bool, terms: "Terms | None", *, begins: bool
    ) -> tuple[str, Capitals]:
        """Return a sentence as the vocabulary knows it, and the capitals that it had; `begins` is that of `lowered`.

        A change that would take a term from the sentence is left out.
        """
        terms = terms if terms is not None and terms.find(given) else None

        def with_terms(changed: str, text: str) -> str:
            return changed if terms is None or changed == text or terms.are_kept(given, changed) else text

        text, were = with_terms(self._quotation_marks.replaced(given, languages.source), given), NO_CAPITALS
        text = with_terms(self._abbreviations.written_out(text, languages.source), text)
        if capitals and terms is None:
            text, were = lowered(self._vocabulary, text, languages.source, begins=begins)
        return with_terms(self.unknown_words.respelled(text, languages.source, stress=capitals), text), were


def _required(terms: "Terms | None", given: str, segments: Sequence[str]) -> "list[list[Term]]":
    """Return the terms of each segment of a sentence; a change of spelling makes none."""
    if terms is None:
        return []
    if len(segments) == 1:
        return [terms.find(given)]
    of_sentence = terms.matched(given)
    return [[term for term in terms.find(segment) if term in of_sentence] for segment in segments]


def _matched(terms: "Terms", text: str, spans: Iterable[Span]) -> "list[Term]":
    """Return the target terms of the sentences of a text."""
    return [term for span in spans if span.reason is None for term in terms.matched(text[span.start : span.end])]


def _visible(line: str) -> str:
    return replace_surrogates(remove_invisible(line)).rstrip("\r\n")


def without_added_mark(source: str, translation: str) -> str:
    """Return a translation without the mark at its end if its source has none: models add it to parts of sentences."""
    return translation if _FINAL_MARK.search(source) else _FINAL_MARK.sub("", translation)


def best_text(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    """Return the text of piece ids, as one line."""
    # Byte pieces could spell a line break; each line in gives one line out.
    return " ".join(vocabulary.decode(ids).splitlines())


def plain_spaces(text: str) -> str:
    """Return the space between sentences with a space for each character that a program could take for a line's end."""
    return _UNUSUAL.sub(" ", text)


def _spaced(segments: Iterable[list[int]]) -> list[str | list[int]]:
    """Return the segments of a sentence, with spaces between them."""
    parts: list[str | list[int]] = []
    for segment in segments:
        parts += [" ", segment] if parts else [segment]
    return parts


def copied(text: str) -> list[str | list[int]]:
    """Return a text that is not translated; characters that control a terminal or end a line become spaces."""
    text = replace_controls(" ".join(text.splitlines()))
    return [text] if text.strip() else []
