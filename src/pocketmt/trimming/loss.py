"""The loss by trimming: how much text that was not used for it is divided otherwise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pocketmt.text.vocabulary import Vocabulary
from pocketmt.trimming.sentences import sentences


@dataclass(frozen=True)
class SegmentationLoss:
    """Text that a trimmed vocabulary divides otherwise than the whole one.

    Attributes:
        lines, pieces: of the text, as the whole vocabulary divides it.
        changed_lines: how many have other pieces.
        lost_pieces: how many pieces of them were cut, or are otherwise not where they were.
        unknown_pieces: how many unknown pieces the text has, before and after.
    """

    lines: int
    pieces: int
    changed_lines: int
    lost_pieces: int
    unknown_pieces: tuple[int, int]


def measure_segmentation(
    whole: Vocabulary, trimmed: Vocabulary, lines: Iterable[str], *, split: bool
) -> SegmentationLoss:
    """Compare how two vocabularies of one side divide lines, or their sentences if they are to be split."""
    count = pieces = changed = lost = 0
    unknown = [0, 0]
    lengths = _lengths(whole)  # The trimmed one has no other pieces.
    for line in lines:
        is_changed = False
        for text in sentences(line) if split else [line]:
            before, after = whole.encode_as_pieces(text), trimmed.encode_as_pieces(text)
            pieces += len(before)
            is_changed |= before != after
            lost += len(_places(before, lengths) - _places(after, lengths))
            for index, vocabulary in enumerate((whole, trimmed)):
                unknown[index] += vocabulary.encode(text).count(vocabulary.ids.unk)
        count += 1
        changed += is_changed
    return SegmentationLoss(count, pieces, changed, lost, (unknown[0], unknown[1]))


def _lengths(vocabulary: Vocabulary) -> dict[str, int]:
    """Return the number of bytes that each piece takes in a text; a byte piece takes one."""
    pieces = vocabulary.pieces(range(len(vocabulary)))
    return {piece: len(surface) for piece, surface in zip(pieces, vocabulary.surfaces(), strict=True) if surface}


def _places(pieces: Iterable[str], lengths: Mapping[str, int]) -> set[tuple[int, int]]:
    """Return where each piece begins and ends in the text, in bytes; unknown text is a piece that has no length."""
    places = set()
    start = 0
    for piece in pieces:
        end = start + (lengths.get(piece) or len(piece.encode()))
        places.add((start, end))
        start = end
    return places
