"""How much of what a model would write its shortlist lets through [E4]."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pocketmt.engine import Translator
from pocketmt.errors import DataError
from pocketmt.model_file import open_model
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.corpus import read_pairs
from pocketmt.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Recall:
    """Shares of pieces that are in their sentence's list, eos not counted, on one parallel text.

    Attributes:
        lines: of the text.
        reference: of the reference's pieces, from 0 to 1.
        output: of the pieces that the model writes when it searches its whole vocabulary.
        mean_pieces: of a sentence's list, special pieces counted.
        vocabulary_size: pieces that there are.
    """

    lines: int
    reference: float
    output: float
    mean_pieces: float
    vocabulary_size: int


def measure_recall(model: Path, shortlist: Shortlist, source: Path, reference: Path, beam_size: int) -> Recall:
    """Translate a text without a shortlist, and see which pieces one would have kept from being written.

    DataError where the files cannot be read, are not parallel, or have no lines; ModelFileError for a broken model.
    """
    with open_model(model) as file:
        vocabulary = Vocabulary.from_bytes(file.vocabulary())
    pairs = [(vocabulary.encode(line), vocabulary.encode(target)) for line, target in read_pairs(source, reference)]
    if not pairs:
        raise DataError(f"{source} and {reference} have no lines: there is nothing to measure")
    sources = [ids for ids, _ in pairs]
    outputs = Translator(model).translate_ids(sources, beam_size=beam_size, shortlist=False)
    lists = [frozenset(shortlist.pieces(ids)) for ids in sources]
    return Recall(
        lines=len(pairs),
        reference=_share_within(lists, [ids for _, ids in pairs]),
        output=_share_within(lists, outputs),
        mean_pieces=sum(map(len, lists)) / len(lists),
        vocabulary_size=len(vocabulary),
    )


def _share_within(lists: Sequence[frozenset[int]], sentences: Sequence[Sequence[int]]) -> float:
    """The share of pieces that are in their sentence's list; 1 where there are no pieces."""
    pieces = sum(map(len, sentences))
    within = sum(id in pieces for pieces, ids in zip(lists, sentences, strict=True) for id in ids)
    return within / pieces if pieces else 1.0
