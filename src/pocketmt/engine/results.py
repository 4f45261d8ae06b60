"""Results of the engine as text: of one line from those of its sentences."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pocketmt.engine import _native
from pocketmt.engine.alignment import Alignment, copied_alignment, divide_at_spaces, join_alignments, make_alignment
from pocketmt.engine.line_parts import DividedLine, best_text, without_added_mark
from pocketmt.engine.options import Search
from pocketmt.sentences import StandIn, pieces_of, pieces_with_parts, with_parts
from pocketmt.text.letter_case import NO_CAPITALS, Capitals, with_capitals
from pocketmt.text.vocabulary import SPACE, Vocabularies, Vocabulary


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A translation and its score: its log-probability / length ** length_penalty.

    The log-probability is that of the pieces after a prefix, and after a piece of the target language; the length
    counts these too, and eos. The probabilities of a piece are those after `repetition_penalty`, among the pieces that
    the shortlist and the options allow; the options of sampling do not change them.
    """

    text: str
    score: float


@dataclass(frozen=True, slots=True)
class DetailedHypothesis(Hypothesis):
    """A translation with its score, see `Hypothesis`, and those of its pieces.

    Attributes:
        pieces: the pieces of the translation, "▁" for a space; none of text that is copied, unlike in the alignment. Of
            pieces in whose place a URL or a placeholder is put, the first has it, and others may be empty.
        token_scores: log-probability of each piece, also of a prefix, after the pieces before it; among those that
            `Hypothesis` names.
        alignment: to the source; None if it was not asked for.
    """

    pieces: tuple[str, ...]
    token_scores: tuple[float, ...]
    alignment: Alignment | None


def describe_line(
    vocabularies: Vocabularies, line: DividedLine, sentences: Sequence[Sequence["_native.Details"]], search: Search
) -> list[DetailedHypothesis]:
    """Return the translations of a line, best first; one empty translation without text.

    Args:
        vocabularies: of the model.
        line: the source.
        sentences: the engine's results for each sentence.
        search: says what was asked for.
    """
    prefix = len(line.prefix)
    described = [
        [describe(vocabularies, pieces, without_prefixes(each, prefix, search), search) for each in hypotheses]
        for pieces, hypotheses in zip(
            source_pieces(vocabularies.source, line.text, line.sentences), sentences, strict=True
        )
    ]
    if not described:
        return [join(line, [], search)]
    # A sentence may have fewer than n_best translations.
    return [join(line, parts, search) for parts in zip(*described, strict=False)]


def describe(
    vocabularies: Vocabularies, source: Sequence[str], details: "_native.Details", search: Search
) -> DetailedHypothesis:
    """Return the translation of one sentence.

    Args:
        vocabularies: of the model.
        source: the pieces of the sentence.
        details: the engine's result.
        search: says what was asked for.
    """
    ids, score, token_scores, attention = details
    vocabulary = vocabularies.target
    pieces = vocabulary.pieces(ids)
    text = best_text(vocabulary, ids)
    rows = tuple(tuple(row[: len(source)]) for row in attention)
    if search.replace_unknowns and vocabulary.ids.unk in ids:
        _replace_unknowns(vocabularies, ids, pieces, make_alignment(source, pieces, rows))
        text = " ".join(vocabulary.decode_pieces(pieces).splitlines())
    alignment = make_alignment(source, pieces, rows) if search.alignment else None
    return DetailedHypothesis(text, score, tuple(pieces), tuple(token_scores[: len(ids)]), alignment)


def without_prefixes(details: "_native.Details", source_prefix: int, search: Search) -> "_native.Details":
    """Return the result of a sentence without pieces of languages: those of the source and of the translation."""
    if search.languages.forced is None and not source_prefix:
        return details
    ids, score, token_scores, attention = details
    rows = [row[source_prefix:] for row in search.shown(attention)]
    return search.shown(ids), score, search.shown(token_scores), rows


def join(line: DividedLine, parts: Sequence[DetailedHypothesis], search: Search) -> DetailedHypothesis:
    """Return the translation of a line from those of its sentences; its score is their mean."""
    if line.in_parts:
        parts = [_without_added_mark(text, part) for text, part in zip(line.sentence_texts, parts, strict=True)]
    if line.capitals:
        parts = [
            part if capitals == NO_CAPITALS else _with_capitals(part, capitals, line, search)
            for part, capitals in zip(parts, line.capitals, strict=True)
        ]
    return DetailedHypothesis(
        line.join(part.text for part in parts),
        sum(part.score for part in parts) / len(parts) if parts else 0.0,
        tuple(piece for part in parts for piece in part.pieces),
        tuple(score for part in parts for score in part.token_scores),
        _joined_alignment(line, parts) if search.alignment else None,
    )


def _without_added_mark(source: str, part: DetailedHypothesis) -> DetailedHypothesis:
    """Return the translation of a part of a sentence as `without_added_mark` does, with its pieces."""
    text = without_added_mark(source, part.text)
    mark = part.text[len(text) :]
    if not mark or not "".join(part.pieces).endswith(mark):
        return replace(part, text=text)
    alignment = part.alignment
    if alignment is not None:
        alignment = replace(alignment, target_pieces=_without_end(alignment.target_pieces, len(mark)))
    return replace(part, text=text, pieces=_without_end(part.pieces, len(mark)), alignment=alignment)


def _without_end(pieces: Sequence[str], characters: int) -> tuple[str, ...]:
    """Return pieces without their last characters; pieces may become empty, but none is left out."""
    left = list(pieces)
    for place in reversed(range(len(left))):
        removed = min(characters, len(left[place]))
        left[place] = left[place][: len(left[place]) - removed]
        characters -= removed
    return tuple(left)


def _with_capitals(
    part: DetailedHypothesis, capitals: Capitals, line: DividedLine, search: Search
) -> DetailedHypothesis:
    """Return the translation of a sentence with capitals, also in its pieces and those of its source."""
    source, target = search.languages.source, line.target_language
    text = line.with_capitals(part.text, capitals)
    of_target: Capitals = NO_CAPITALS if text == part.text else capitals
    alignment = part.alignment
    if alignment is not None:
        alignment = replace(
            alignment,
            source_pieces=_pieces_with_capitals(alignment.source_pieces, capitals, source),
            target_pieces=_pieces_with_capitals(alignment.target_pieces, of_target, target),
        )
    pieces = _pieces_with_capitals(part.pieces, of_target, target)
    return replace(part, text=text, pieces=pieces, alignment=alignment)


def _pieces_with_capitals(pieces: Sequence[str], capitals: Capitals, language: str) -> tuple[str, ...]:
    if capitals != "first":
        return tuple(with_capitals(piece, capitals, language) for piece in pieces)
    first = next((place for place, piece in enumerate(pieces) if piece.strip(SPACE)), None)
    return tuple(
        piece if place != first else _with_first_capital(piece, language) for place, piece in enumerate(pieces)
    )


def _with_first_capital(piece: str, language: str) -> str:
    text = piece.lstrip(SPACE)
    return piece.removesuffix(text) + with_capitals(text, "first", language)


def _joined_alignment(line: DividedLine, parts: Sequence[DetailedHypothesis]) -> Alignment:
    translated = (part.alignment for part in parts if part.alignment is not None)
    return join_alignments(
        [copied_alignment(part) if isinstance(part, str) else next(translated) for part in line.parts],
        [index == 0 or _are_apart(line.parts[index - 1], part) for index, part in enumerate(line.parts)],
    )


def _are_apart(part: str | list[int], following: str | list[int]) -> bool:
    """Whether a new word begins after a part of a line: with a sentence, or after white space, which is copied text."""
    if isinstance(part, str):
        return part[-1].isspace() or (isinstance(following, str) and following[0].isspace())
    return not isinstance(following, str) or following[0].isspace()


def hypotheses_with_parts(
    hypotheses: Sequence[DetailedHypothesis], stand_ins: Sequence[StandIn]
) -> list[DetailedHypothesis] | None:
    """Return the translations that have each stand-in once, with parts in their places; None if the best has not."""
    restored = [_with_parts(each, stand_ins) for each in hypotheses]
    return None if restored[0] is None else [each for each in restored if each is not None]


def hypotheses_rewritten(
    hypotheses: Sequence[DetailedHypothesis], find: Callable[[str], Sequence[StandIn]]
) -> list[DetailedHypothesis]:
    """Return translations, each with the parts of the stand-ins that `find` returns of its text."""
    return [_with_parts(each, find(each.text)) or each for each in hypotheses]


def _with_parts(hypothesis: DetailedHypothesis, stand_ins: Sequence[StandIn]) -> DetailedHypothesis | None:
    if not stand_ins:
        return hypothesis
    text = with_parts(hypothesis.text, stand_ins)
    if text is None:
        return None
    alignment = hypothesis.alignment
    if alignment is not None:
        of_source = [stand_in._replace(part=stand_in.source) for stand_in in stand_ins]
        alignment = replace(
            alignment,
            sentence_attention=_attention_of_parts(alignment, stand_ins),
            source_pieces=pieces_with_parts(alignment.source_pieces, of_source),
            target_pieces=pieces_with_parts(alignment.target_pieces, stand_ins),
        )
        if any(character.isspace() for each in stand_ins for character in each.source + each.part):
            alignment = divide_at_spaces(alignment)
    return replace(hypothesis, text=text, pieces=pieces_with_parts(hypothesis.pieces, stand_ins), alignment=alignment)


def _attention_of_parts(
    alignment: Alignment, stand_ins: Sequence[StandIn]
) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """Return the attention of an alignment in which each stand-in has all its attention to itself."""
    attention = list(alignment.sentence_attention)
    for stand_in in stand_ins:
        source = pieces_of(alignment.source_pieces, stand_in)
        for piece in pieces_of(alignment.target_pieces, stand_in) if source else ():
            attention[piece] = source.start, (1.0,)
    return tuple(attention)


def join_lines(
    line: DividedLine, translated: Sequence[Sequence[DetailedHypothesis]], search: Search
) -> list[DetailedHypothesis]:
    """Return the translations of a line from those of its sentences, which were translated as lines, best first."""
    return [join(line, parts, search) for parts in zip(*translated, strict=False)]


def source_pieces(vocabulary: Vocabulary, line: str, sentences: Sequence[Sequence[int]]) -> list[list[str]]:
    """Return the pieces of each sentence of a line; unknown characters are kept as they are."""
    pieces = [vocabulary.pieces(ids) for ids in sentences]
    unk = vocabulary.ids.unk
    if any(unk in ids for ids in sentences):
        whole = vocabulary.encode_as_pieces(line)
        unknown = [piece for piece, id in zip(whole, vocabulary.encode(line), strict=True) if id == unk]
        places = [(each, index) for each, ids in enumerate(sentences) for index, id in enumerate(ids) if id == unk]
        for (each, index), text in zip(places, unknown, strict=False):
            pieces[each][index] = text
    return pieces


def _replace_unknowns(vocabularies: Vocabularies, ids: Sequence[int], pieces: list[str], alignment: Alignment) -> None:
    """Replace unknown pieces by the source piece with the most attention, if that is unknown, or else by its word."""
    for source, target in alignment.piece_links():
        if ids[target] != vocabularies.target.ids.unk:
            continue
        piece = alignment.source_pieces[source]
        word = bisect_right(alignment.source_word_starts, source) - 1
        pieces[target] = alignment.source_words[word] if vocabularies.source.id(piece) is not None else piece
