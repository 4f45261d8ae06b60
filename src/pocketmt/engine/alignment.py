"""The alignment of a translation to its source, from the decoder's attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from pocketmt.sentences.protected import WORD_WITH_SPACES
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
        sentence_attention: of each target piece, the index of the first source piece of its sentence, and the weights
            of that piece and those after it, from 0 to 1. Their sum is below 1: the rest is attention to the end of
            the source sentence.
        source_word_starts: index of the first piece of each source word.
        target_word_starts: index of the first piece of each target word.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    sentence_attention: tuple[tuple[int, tuple[float, ...]], ...]
    source_word_starts: tuple[int, ...]
    target_word_starts: tuple[int, ...]

    @property
    def attention(self) -> tuple[tuple[float, ...], ...]:
        """T rows of S weights; those of other sentences are 0. For a long line they take much memory."""
        columns = len(self.source_pieces)
        return tuple(
            (*[0.0] * first, *weights, *[0.0] * (columns - first - len(weights)))
            for first, weights in self.sentence_attention
        )

    @property
    def source_words(self) -> tuple[str, ...]:
        """The words of the source, as they are after Unicode normalization.

        A word that is translated in another spelling has that: "not" in place of "NOT", "and" in place of "&".
        """
        return _words(self.source_pieces, self.source_word_starts)

    @property
    def target_words(self) -> tuple[str, ...]:
        """The words of the translation."""
        return _words(self.target_pieces, self.target_word_starts)

    def piece_links(self) -> list[tuple[int, int]]:
        """Return (source piece, target piece) for each target piece: the source piece with the most attention."""
        return [
            (first + _greatest(weights), target)
            for target, (first, weights) in enumerate(self.sentence_attention)
            if weights
        ]

    def word_links(self) -> list[tuple[int, int]]:
        """Return (source word, target word) for each target word: the source word with the most attention.

        The attention of a word to a word is the sum over their pieces. Ties go to the first source word.
        """
        links = []
        ranges = _ranges(self.source_word_starts, len(self.source_pieces))
        word_of = [word for word, places in enumerate(ranges) for _ in places]  # of each source piece
        for target, pieces in enumerate(_ranges(self.target_word_starts, len(self.target_pieces))):
            sums: dict[int, float] = {}
            for first, weights in (self.sentence_attention[piece] for piece in pieces):
                for place, weight in enumerate(weights, first):
                    sums[word_of[place]] = sums.get(word_of[place], 0.0) + weight
            if sums:
                links.append((max(sorted(sums), key=sums.__getitem__), target))
        return links

    def pharaoh(self) -> str:
        """Return the links of words as sorted "source-target" pairs with spaces between them: "0-0 1-2 2-1"."""
        return " ".join(f"{source}-{target}" for source, target in sorted(self.word_links()))


def make_alignment(source: Sequence[str], target: Sequence[str], attention: tuple[tuple[float, ...], ...]) -> Alignment:
    """Return the alignment of one sentence, from attention [T, S]."""
    starts = (tuple(_word_starts(pieces)) for pieces in (source, target))
    return Alignment(tuple(source), tuple(target), tuple((0, row) for row in attention), *starts)


def _word_starts(pieces: Sequence[str]) -> list[int]:
    """Return the index of the first piece of each word of a sentence."""
    starts: list[int] = []
    visible = True  # whether the last word has more than a space
    for index, piece in enumerate(pieces):
        if index == 0 or (visible and piece.startswith(SPACE)):
            starts.append(index)
            visible = False
        visible = visible or piece != SPACE
    # A space at the end begins no word.
    return starts if visible else (starts[:-1] or starts)


def copied_alignment(text: str) -> Alignment:
    """Return the alignment of text that is copied: each word to itself."""
    pieces = tuple(SPACE + word for word in WORD_WITH_SPACES.findall(text))
    places = tuple(range(len(pieces)))
    return Alignment(pieces, pieces, tuple((place, (1.0,)) for place in places), places, places)


def join_alignments(parts: Sequence[Alignment], apart: Sequence[bool] | None = None) -> Alignment:
    """Return the alignment of a line from those of its parts.

    Args:
        parts: in the order of the line.
        apart: of each, whether white space or nothing is before it; else its first word goes on with the one before.
            None: all are apart.
    """
    attention: list[tuple[int, tuple[float, ...]]] = []
    source: list[str] = []
    target: list[str] = []
    starts: tuple[list[int], list[int]] = ([], [])
    for part, is_apart in zip(parts, [True] * len(parts) if apart is None else apart, strict=True):
        attention += [(len(source) + first, weights) for first, weights in part.sentence_attention]
        # The words of a side go on only if it has any: an earlier translation may be empty.
        starts[0].extend(len(source) + start for start in part.source_word_starts[0 if is_apart or not source else 1 :])
        starts[1].extend(len(target) + start for start in part.target_word_starts[0 if is_apart or not target else 1 :])
        source += part.source_pieces
        target += part.target_pieces
    return Alignment(tuple(source), tuple(target), tuple(attention), tuple(starts[0]), tuple(starts[1]))


def divide_at_spaces(alignment: Alignment) -> Alignment:
    """Return an alignment whose pieces with several words, such as "5 €", are divided into these.

    Each word of the target has all of its piece's attention, and each word of the source an equal share.
    """
    source = _Divided(alignment.source_pieces, alignment.source_word_starts)
    target = _Divided(alignment.target_pieces, alignment.target_word_starts)
    attention: list[tuple[int, tuple[float, ...]]] = []
    for (first, weights), copies in zip(alignment.sentence_attention, target.counts, strict=True):
        counts = source.counts[first : first + len(weights)]
        shares = (weight / count for weight, count in zip(weights, counts, strict=True) for _ in range(count))
        attention += [(source.places[first], tuple(shares))] * copies
    return Alignment(source.pieces, target.pieces, tuple(attention), source.word_starts, target.word_starts)


class _Divided:
    """Pieces divided into words.

    Attributes:
        pieces: afterwards.
        counts: of the pieces that each piece became.
        places: where each begins, and the end.
        word_starts: afterwards.
    """

    def __init__(self, pieces: Sequence[str], word_starts: Sequence[int]) -> None:
        divided = [WORD_WITH_SPACES.findall(piece) or [piece] for piece in pieces]
        self.pieces = tuple(SPACE * (place > 0) + word for words in divided for place, word in enumerate(words))
        self.counts = [len(words) for words in divided]
        self.places = list(accumulate(self.counts, initial=0))
        begun = {self.places[start] for start in word_starts}
        added = (self.places[index] + place for index, count in enumerate(self.counts) for place in range(1, count))
        self.word_starts = tuple(sorted(begun.union(added)))


def _greatest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _ranges(starts: Sequence[int], end: int) -> list[range]:
    return [range(first, last) for first, last in pairwise([*starts, end])]


def _words(pieces: Sequence[str], starts: Sequence[int]) -> tuple[str, ...]:
    return tuple("".join(pieces[place] for place in each).replace(SPACE, "") for each in _ranges(starts, len(pieces)))
