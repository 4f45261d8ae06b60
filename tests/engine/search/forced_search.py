"""A plain beam search by teacher-forced logits, with rules for pieces: the reference of constrained searches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from pocketmt.models.network import TranslationNetwork
from tests.engine.reference import reference_logits

EOS = 2
NEVER = [0, 1, 3]

# Logits [V] after the ids so far, and these ids -> changed logits.
Rule = Callable[[np.ndarray, list[int]], np.ndarray]


@dataclass
class Found:
    """A finished translation, with the log-probabilities of its ids and of eos."""

    ids: list[int]
    token_scores: list[float]
    prefix: int = 0  # ids that were given, which the score leaves out
    score: float = field(init=False)

    def __post_init__(self) -> None:
        self.score = sum(self.token_scores[self.prefix :]) / len(self.token_scores)


def search(
    model: TranslationNetwork,
    source: list[int],
    *,
    beam: int = 1,
    rules: Sequence[Rule] = (),
    prefix: Sequence[int] = (),
    limit: int = 12,
    allowed: Sequence[int] | None = None,
    repeats: int | None = None,
) -> list[Found]:
    """Return up to `beam` translations, best first, with the rules of `pocketmt.models.search`."""
    live: list[tuple[list[int], list[float]]] = [([], [])]
    finished: list[Found] = []
    while live:
        candidates = []
        for order, (ids, scores) in enumerate(live):
            logits = reference_logits(model, source, ids)[-1].astype(np.float64)
            logits[NEVER] = -np.inf
            if allowed is not None:
                logits[[piece for piece in range(len(logits)) if piece not in allowed]] = -np.inf
            if len(ids) < len(prefix):
                pieces = [prefix[len(ids)]]
            else:
                for rule in rules:
                    logits = rule(logits, ids)
                pieces = [piece for piece in np.argsort(-logits, kind="stable")[: 2 * beam] if logits[piece] > -np.inf]
            normalizer = np.logaddexp.reduce(logits)
            for piece in pieces:
                score = float(logits[piece] - normalizer)
                candidates.append((-(sum([*scores, score][len(prefix) :])), order, int(piece), [*scores, score]))
        candidates.sort(key=lambda candidate: candidate[:3])
        next_live = []
        for _, order, piece, scores in candidates[: beam - len(finished)]:
            ids = live[order][0]
            if piece == EOS:
                finished.append(Found(ids, scores, len(prefix)))
            elif len(ids) + 1 >= limit or (len(ids) >= len(prefix) and repeated([*ids, piece], repeats)):
                finished.append(Found([*ids, piece], scores, len(prefix)))
            else:
                next_live.append(([*ids, piece], scores))
        live = next_live
    return sorted(finished, key=lambda found: -found.score)


def repeated(ids: list[int], times: int | None) -> bool:
    """Return whether ids end in one sequence this many times in a row; None: False."""
    if times is None:
        return False
    return any(ids[-size * times :] == ids[-size:] * times for size in range(1, len(ids) // times + 1))


def penalty(factor: float) -> Rule:
    """Return the rule of a repetition penalty (Keskar et al. 2019, section 4.1)."""

    def apply(logits: np.ndarray, ids: list[int]) -> np.ndarray:
        logits = logits.copy()
        for piece in set(ids):
            logits[piece] = logits[piece] * factor if logits[piece] < 0 else logits[piece] / factor
        return logits

    return apply


def no_repeats(size: int) -> Rule:
    """Return the rule that no sequence of `size` pieces is generated twice."""

    def apply(logits: np.ndarray, ids: list[int]) -> np.ndarray:
        seen = {tuple(ids[start : start + size]) for start in range(len(ids) - size + 1)}
        return banned(logits, [piece for piece in range(len(logits)) if (*ids, piece)[-size:] in seen])

    return apply


def suppressed(sequences: Sequence[Sequence[int]]) -> Rule:
    """Return the rule that sequences are not generated."""

    def apply(logits: np.ndarray, ids: list[int]) -> np.ndarray:
        ends = [each[-1] for each in sequences if [*each[:-1]] == ids[len(ids) - len(each) + 1 :][: len(each) - 1]]
        return banned(logits, ends)

    return apply


def banned(logits: np.ndarray, pieces: Sequence[int]) -> np.ndarray:
    """Return logits without some pieces."""
    logits = logits.copy()
    logits[list(pieces)] = -np.inf
    return logits


def attention(model: TranslationNetwork, source: list[int], target: list[int]) -> np.ndarray:
    """Return the mean cross-attention of all heads and layers [len(target), len(source) + 1], by teacher forcing."""
    seen: list[torch.Tensor] = []

    def keep(_: object, __: object, output: torch.Tensor | tuple[torch.Tensor, ...]) -> None:
        if isinstance(output, tuple):  # codes, scale and offset
            codes, scale, offset = output
            output = offset + codes * scale
        seen.append(output)

    softmaxes = [m for name, m in model.named_modules() if name.endswith("cross_attention.attention.softmax")]
    hooks = [each.register_forward_hook(keep) for each in softmaxes]
    reference_logits(model, source, target)
    for hook in hooks:
        hook.remove()
    weights: np.ndarray = torch.stack([each[0].mean(dim=0) for each in seen]).mean(dim=0).numpy()
    return weights[: len(target)]
