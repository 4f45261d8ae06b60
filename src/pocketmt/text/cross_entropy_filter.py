"""Finds the lines of a text that a language model finds least probable (Behnke et al. 2021, section 2)."""

import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import count as count_from
from itertools import islice
from pathlib import Path
from typing import Final

from pocketmt.chunks import in_chunks
from pocketmt.text.cleaning import Split
from pocketmt.text.corpus import read_lines
from pocketmt.text.external_sort import ExternalSort
from pocketmt.text.formats.format import Languages, Side
from pocketmt.text.kenlm import KenLanguageModel, kenlm_is_installed
from pocketmt.text.language_model import LanguageModel
from pocketmt.text.normalization import normalize
from pocketmt.text.several_processes import apply_in_processes

# Largest number of lines that a model is trained on, spread evenly over the text: about 2 GB of memory without KenLM.
MOST_LINES: Final = 1_000_000
LINES_AT_ONCE: Final = 10_000  # scored by one process
# The bytes of these sort as the numbers do: cross-entropies are not negative.
_SCORED: Final = struct.Struct(">dQ")  # cross-entropy, number of the line
_NUMBER: Final = struct.Struct(">Q")
_LARGEST_DENOMINATOR: Final = 10**9  # of the share of lines: nine decimals, or a fraction such as 1/42
Model = LanguageModel | KenLanguageModel


def improbable_lines(
    text: Path,
    share: float,
    split: Split,
    folder: Path,
    model_text: Path | None = None,
    side: Side = "source",
    languages: Languages | None = None,
) -> Iterator[int]:
    """Yield the numbers, from 0 and ascending, of the lines with the highest cross-entropy per word.

    Without `model_text`, even lines are scored by a model trained on the odd lines and odd lines by a model trained on
    the even ones, because a model finds the lines that it was trained on probable. The model is KenLM's where it is
    installed. It is trained in this process; all cores of this process compute the cross-entropies.

    Args:
        text: a file of plain text.
        share: of the lines to return, 0 to 1, rounded down to whole lines; of equal scores, later lines are taken.
        split: splits a normalized line into words.
        folder: for the scores of a long text, see `ExternalSort`, and for the files of KenLM.
        model_text: text in the same language to train the model on; None: `text`.
        side, languages: of `model_text`, as in `read_lines`.

    Raises DataError if a text cannot be read or `model_text` is empty.
    """
    count = sum(1 for _ in read_lines(text))
    # The number that stands for 0.29 is less than 0.29, and 100 times that would be 28 lines.
    worst = int(Fraction(share).limit_denominator(_LARGEST_DENOMINATOR) * count)
    if worst == 0 or count < 2:
        return
    scored = ExternalSort(folder, _SCORED.size)
    step = 1 if model_text is not None else 2
    for start in range(step):
        if model_text is None:
            model = _train(partial(read_lines, text), 1 - start, 2, split, folder)
        else:
            model = _train(partial(read_lines, model_text, side, languages), 0, 1, split, folder)
        for number, score in zip(count_from(start, step), _scores(text, model, split, start, step), strict=False):
            scored.add(_SCORED.pack(max(score, 0.0) + 0.0, number))  # -0.0 becomes 0.0
    improbable = ExternalSort(folder, _NUMBER.size)
    for record in islice(scored, count - worst, None):
        improbable.add(record[_NUMBER.size :])
    yield from (_NUMBER.unpack(number)[0] for number in improbable)


def _train(read: Callable[[], Iterator[str]], start: int, step: int, split: Split, folder: Path) -> Model:
    """Train a model on each `step`-th line from `start`, on MOST_LINES of them at most."""
    count = sum(1 for _ in islice(read(), start, None, step))
    step *= max(1, -(-count // MOST_LINES))
    lines = islice(read(), start, None, step)
    sentences = (words for line in lines if (words := split(normalize(line))))
    return KenLanguageModel(sentences, folder) if kenlm_is_installed() else LanguageModel(sentences)


def _scores(text: Path, model: Model, split: Split, start: int, step: int) -> Iterator[float]:
    """Yield the cross-entropy of each `step`-th line from `start`."""

    def cross_entropies(lines: list[str]) -> list[float]:
        return model.cross_entropies([split(normalize(line)) for line in lines])

    lines = islice(read_lines(text), start, None, step)
    chunks = in_chunks(lines, LINES_AT_ONCE)
    return (score for _, scores in apply_in_processes(cross_entropies, chunks) for score in scores)
