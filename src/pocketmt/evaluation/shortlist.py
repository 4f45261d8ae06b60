"""Recall of a shortlist: the share of output pieces that it contains (Behnke et al. 2021, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pocketmt.engine import Translator
from pocketmt.engine.languages import ModelLanguages
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

    Raises DataError if the files cannot be read, are not parallel or have no lines, LanguageNeededError if a line does
    not name its language and the model has no default, and ModelFileError for an invalid model file.
    """
    with open_model(model) as file:
        vocabularies = file.vocabularies()
        languages = file.source_language, file.target_language
        known = ModelLanguages(languages, file.language_pieces, vocabularies)
    texts = list(read_pairs(source, reference, languages))
    if not texts:
        raise DataError(f"{source} and {reference} have no lines: there is nothing to measure")
    chosen = known.choose(None, None)
    named = [known.named_by(line) for line, _ in texts]
    sources = [[*chosen.prefix(language), *vocabularies.source.encode(rest)] for language, rest in named]
    outputs = Translator(model).translate_ids(sources, beam_size=beam_size, shortlist=False)
    lists = [frozenset(shortlist.pieces(ids)) for ids in sources]
    return Recall(
        lines=len(texts),
        reference=_share_within(lists, [vocabularies.target.encode(target) for _, target in texts]),
        output=_share_within(lists, outputs),
        mean_pieces=sum(map(len, lists)) / len(lists),
        vocabulary_size=len(vocabularies.target),
    )


def _share_within(lists: Sequence[frozenset[int]], sentences: Sequence[Sequence[int]]) -> float:
    """Return the share of pieces that are in the list of their sentence; 1 if there are no pieces."""
    pieces = sum(map(len, sentences))
    within = sum(id in pieces for pieces, ids in zip(lists, sentences, strict=True) for id in ids)
    return within / pieces if pieces else 1.0
