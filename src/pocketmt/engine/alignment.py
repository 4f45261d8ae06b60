"""The alignment of a translation to its source, from the decoder's attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pocketmt.text.vocabulary import SPACE


@dataclass(frozen=True, slots=True)
class Alignment:
    """Attention of each target piece to the source pieces, and the words that they form.

    The attention is the mean over the heads of each decoder layer and over all layers, at the step that generated the
    piece. Pieces and words are counted from 0 through the whole line, also through a line of several sentences, whose
    pieces have no attention to other sentences. A word is a run of pieces up to the next space; the first piece of a
    sentence begins one. Each word of text that is copied is one piece, on both sides, with all its attention to itself.

    Attributes:
        source_pieces: S pieces of the line; unknown characters are kept as they are.
        target_pieces: T pieces of the translation.
        attention: T rows of S weights from 0 to 1. A row has a sum below 1: the rest is attention to the end of the
            source sentence.
        source_word_starts: index of the first piece of each source word.
        target_word_starts: index of the first piece of each target word.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    attention: tuple[tuple[float, ...], ...]
    source_word_starts: tuple[int, ...]
    target_word_starts: tuple[int, ...]

    @property
    def source_words(self) -> tuple[str, ...]:
        """The words of the source, as they are after Unicode normalization."""
        return _words(self.source_pieces, self.source_word_starts)

    @property
    def target_words(self) -> tuple[str, ...]:
        """The words of the translation."""
        return _words(self.target_pieces, self.target_word_starts)

    def piece_links(self) -> list[tuple[int, int]]:
        """Return (source piece, target piece) for each target piece: the source piece with the most attention."""
        return [(_greatest(row), target) for target, row in enumerate(self.attention) if row]

    def word_links(self) -> list[tuple[int, int]]:
        """Return (source word, target word) for each target word: the source word with the most attention.

        The attention of a word to a word is the sum over their pieces. Ties go to the first source word.
        """
        links = []
        for target, pieces in enumerate(_ranges(self.target_word_starts, len(self.target_pieces))):
            sums = [
                sum(self.attention[row][column] for row in pieces for column in columns)
                for columns in _ranges(self.source_word_starts, len(self.source_pieces))
            ]
            if sums:
                links.append((_greatest(sums), target))
        return links

    def pharaoh(self) -> str:
        """Return the links of words as sorted "source-target" pairs with spaces between them: "0-0 1-2 2-1"."""
        return " ".join(f"{source}-{target}" for source, target in sorted(self.word_links()))


def make_alignment(source: Sequence[str], target: Sequence[str], attention: tuple[tuple[float, ...], ...]) -> Alignment:
    """Return the alignment of one sentence, from attention [T, S]."""
    starts = (tuple(_word_starts(pieces)) for pieces in (source, target))
    return Alignment(tuple(source), tuple(target), attention, *starts)


def _word_starts(pieces: Sequence[str]) -> list[int]:
    """Return the index of the first piece of each word of a sentence."""
    starts: list[int] = []
    visible = True  # whether the last word has more than a space
    for index, piece in enumerate(pieces):
        if index == 0 or (visible and piece.startswith(SPACE)):
            starts.append(index)
            visible = False
        visible = visible or piece != SPACE
    return starts


def copied_alignment(text: str) -> Alignment:
    """Return the alignment of text that is copied: each word to itself."""
    pieces = tuple(SPACE + word for word in text.split())
    places = tuple(range(len(pieces)))
    attention = tuple(tuple(float(column == row) for column in places) for row in places)
    return Alignment(pieces, pieces, attention, places, places)


def join_alignments(parts: Sequence[Alignment]) -> Alignment:
    """Return the alignment of a line from those of its parts."""
    columns = sum(len(part.source_pieces) for part in parts)
    attention: list[tuple[float, ...]] = []
    source: list[str] = []
    target: list[str] = []
    starts: tuple[list[int], list[int]] = ([], [])
    for part in parts:
        before, after = len(source), columns - len(source) - len(part.source_pieces)
        attention += [(*[0.0] * before, *row, *[0.0] * after) for row in part.attention]
        starts[0].extend(len(source) + start for start in part.source_word_starts)
        starts[1].extend(len(target) + start for start in part.target_word_starts)
        source += part.source_pieces
        target += part.target_pieces
    return Alignment(tuple(source), tuple(target), tuple(attention), tuple(starts[0]), tuple(starts[1]))


def _greatest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _ranges(starts: Sequence[int], end: int) -> list[range]:
    return [range(first, last) for first, last in pairwise([*starts, end])]


def _words(pieces: Sequence[str], starts: Sequence[int]) -> tuple[str, ...]:
    return tuple("".join(pieces[place] for place in each).replace(SPACE, "") for each in _ranges(starts, len(pieces)))
