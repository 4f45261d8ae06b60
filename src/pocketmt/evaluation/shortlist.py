"""Recall of a shortlist: the share of output pieces that it contains (Behnke et al. 2021, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pocketmt.engine import Translator
from pocketmt.errors import DataError
from pocketmt.model_file import open_model
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.text.corpus import read_pairs


@dataclass(frozen=True)
class Recall:
    """Shares of pieces that are in the list of their sentence, 0 to 1, on a parallel text; EOS is not counted."""

    lines: int
    reference: float  # of the reference's pieces
    output: float  # of the pieces that the model writes without a shortlist
    mean_pieces: float  # mean length of a sentence's list, special pieces included
    vocabulary_size: int


def measure_recall(model: Path, shortlist: Shortlist, source: Path, reference: Path, beam_size: int) -> Recall:
    """Translate a text without a shortlist, and measure how many output and reference pieces the shortlist contains.

    Lines are not divided into sentences: there should be one in each.

    Raises DataError if the files cannot be read, are not parallel or have no lines, and ModelFileError for an invalid
    model file.
    """
    with open_model(model) as file:
        vocabularies = file.vocabularies()
        languages = file.source_language, file.target_language
    texts = read_pairs(source, reference, languages)
    pairs = [(vocabularies.source.encode(line), vocabularies.target.encode(target)) for line, target in texts]
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
        vocabulary_size=len(vocabularies.target),
    )


def _share_within(lists: Sequence[frozenset[int]], sentences: Sequence[Sequence[int]]) -> float:
    """Return the share of pieces that are in the list of their sentence; 1 if there are no pieces."""
    pieces = sum(map(len, sentences))
    within = sum(id in pieces for pieces, ids in zip(lists, sentences, strict=True) for id in ids)
    return within / pieces if pieces else 1.0
