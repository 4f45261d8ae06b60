"""Which lines of a text are the least like the others, or like a given text: [E2]'s cross-entropy a word."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from pocketmt.text.cleaning import Cut, Words
from pocketmt.text.corpus import read_lines
from pocketmt.text.language_model import LanguageModel
from pocketmt.text.normalization import normalize

# A model learns from at most so many lines, spread evenly: about 2 GB of memory while it does.
MOST_LINES: Final = 1_000_000
LINES_AT_ONCE: Final = 10_000


def improbable_lines(text: Path, share: float, cut: Cut, model_text: Path | None = None) -> set[int]:
    """Return the numbers, from 0, of a share of the lines: those of the largest cross-entropy a word.

    A model that has read a line finds it probable. Where no other text is given, even lines are therefore scored by a
    model of the odd ones, and odd lines by a model of the even ones.

    Args:
        text: as `read_lines` reads it.
        share: of the lines, 0 to 1, rounded down to whole lines; ties go to later lines.
        cut: of a normalized line into words.
        model_text: what the model learns from, in the same language; None: the text itself.

    Raises DataError where a text cannot be read or `model_text` holds nothing.
    """
    count = sum(1 for _ in read_lines(text))
    worst = int(share * count)
    if worst == 0 or count < 2:
        return set()
    scores = np.zeros(count)
    if model_text is not None:
        scores[:] = _scores(text, _learn(model_text, cut, 0, 1), cut, 0, 1)
    else:
        for half in (0, 1):
            scores[half::2] = _scores(text, _learn(text, cut, 1 - half, 2), cut, half, 2)
    return set(np.argsort(scores, kind="stable")[count - worst :].tolist())


def _learn(text: Path, cut: Cut, start: int, step: int) -> LanguageModel:
    """Return a model of each `step`-th line, or of fewer where those are more than MOST_LINES."""
    count = sum(1 for _ in islice(read_lines(text), start, None, step))
    step *= max(1, -(-count // MOST_LINES))
    return LanguageModel(words for words in _cut_lines(text, cut, start, step) if words)


def _scores(text: Path, model: LanguageModel, cut: Cut, start: int, step: int) -> list[float]:
    lines = _cut_lines(text, cut, start, step)
    chunks = iter(lambda: list(islice(lines, LINES_AT_ONCE)), [])
    return [score for chunk in chunks for score in model.cross_entropies(chunk)]


def _cut_lines(text: Path, cut: Cut, start: int, step: int) -> Iterator[Words]:
    return (cut(normalize(line)) for line in islice(read_lines(text), start, None, step))
