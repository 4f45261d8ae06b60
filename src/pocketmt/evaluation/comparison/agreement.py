"""Agreement of the next pieces of two models, by teacher forcing with the original's translations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pocketmt.engine import TranslationOptions, Translator
from pocketmt.evaluation.comparison.record import Agreement
from pocketmt.progress import Progress

MOST_LINES: Final = 300  # Logits of the whole vocabulary take longer than a translation.


@dataclass(frozen=True)
class LineAgreement:
    """Sums over the sentences of a line: see `Agreement`."""

    sentences: int
    tokens: int
    same: int
    divergence: float


def why_not(original: Translator, small: Translator) -> str:
    """Return why pieces of two models cannot be compared; empty if they can."""
    sides = ((original.tokenizer, small.tokenizer), (original.target_tokenizer, small.target_tokenizer))
    for ours, other in sides:
        if len(ours) != len(other):
            return f"the vocabularies differ: {len(ours):,} pieces and {len(other):,}"
        if ours.pieces(range(len(ours))) != other.pieces(range(len(other))):
            return "the vocabularies differ: as many pieces, but not the same ones"
    return ""


def compare_line(translators: Sequence[Translator], line: str, options: TranslationOptions) -> LineAgreement:
    """Compare the distributions of the next piece after each piece of the original's translation of a line."""
    original, _ = translators
    sentences = original.network_ids(line, **options)
    tokens = same = 0
    divergence = 0.0
    for source, target in sentences:
        ours, other = (_log_probabilities(each, source, target) for each in translators)
        tokens += len(ours)
        same += int((ours.argmax(axis=1) == other.argmax(axis=1)).sum())
        divergence += float((np.exp(ours) * (ours - other)).sum())
    return LineAgreement(len(sentences), tokens, same, divergence)


def chosen_lines(lines: Sequence[str], progress: Progress) -> Iterable[int]:
    """Yield up to `MOST_LINES` places of lines with text, spread evenly."""
    places = [place for place, line in enumerate(lines) if line.strip()]
    step = max(1.0, len(places) / MOST_LINES)
    chosen = [places[int(index * step)] for index in range(min(len(places), MOST_LINES))]
    for done, place in enumerate(chosen, start=1):
        yield place
        progress(done, len(chosen))


def total(lines: Iterable[LineAgreement]) -> Agreement | None:
    """Return the agreement over lines; None if they have no tokens."""
    lines = list(lines)
    tokens = sum(each.tokens for each in lines)
    if tokens == 0:
        return None
    return Agreement(
        sentences=sum(each.sentences for each in lines),
        tokens=tokens,
        same=sum(each.same for each in lines) / tokens,
        divergence=sum(each.divergence for each in lines) / tokens,
    )


def _log_probabilities(translator: Translator, source: list[int], target: list[int]) -> "np.ndarray[Any, Any]":
    """Return float64 [len(target) + 1, V]."""
    flat = translator.flat_logits(source, target)
    logits = np.frombuffer(flat, dtype=np.float32).reshape(len(target) + 1, -1).astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits
