"""Reference search, whose translations the engine and `pocketmt.decoding` must find: greedy and beam; ensembles.

The engine's search has the same rules: at each step the (beam - finished) best continuations of a sentence's live
hypotheses are kept, by summed log-probability; those that end in eos are finished. The search of a sentence ends when
`beam` hypotheses are finished or the length limit is reached. Hypotheses are ranked by
log-probability / length ** length_penalty; the length includes eos.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pocketmt.models.inputs import encoder_input, first_decoder_input, pad
from pocketmt.models.network import TranslationNetwork, select


@dataclass(frozen=True)
class Hypothesis:
    """A translation: piece ids without eos, and its score, a log-probability after the length penalty."""

    ids: tuple[int, ...]
    score: float


def default_maximum_length(source_length: int) -> int:
    """Return the most target tokens, with eos, for a source of `source_length` tokens without eos."""
    return 2 * source_length + 20


class _Decoding:
    """The live rows of a batch: their decoder states, and one step of all of them."""

    def __init__(
        self,
        model: TranslationNetwork,
        sources: Sequence[Sequence[int]],
        allowed: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.model = model
        self.device = model.embedding.weight.device
        read = [encoder_input(model.architecture, source) for source in sources]
        encoded, self.mask = model.encode(pad(read, self.device))
        self.states = model.start(encoded)
        self.position = 0
        self.forbidden = None if allowed is None else self._forbidden(allowed)

    def _forbidden(self, allowed: Sequence[Sequence[int]]) -> Tensor:
        """Return which pieces may not be generated, bool [rows, V]."""
        forbidden = torch.ones(len(allowed), len(self.model.embedding.weight), dtype=torch.bool, device=self.device)
        for row, pieces in enumerate(allowed):
            forbidden[row, list(pieces)] = False
        return forbidden

    def keep(self, rows: Sequence[int]) -> None:
        """Keep the given rows, in this order; a row that is given twice is repeated."""
        index = torch.tensor(rows, device=self.device)
        self.states = select(self.states, index)
        if self.mask is not None:
            self.mask = self.mask.index_select(0, index)
        if self.forbidden is not None:
            self.forbidden = self.forbidden.index_select(0, index)

    def step(self, tokens: Sequence[int]) -> Tensor:
        """Feed one token to each row; returns the next logits [rows, V], -inf for pieces that are never generated."""
        target = torch.tensor(tokens, device=self.device)[:, None]
        decoded, self.states = self.model.decode(target, self.states, self.mask, self.position)
        self.position += 1
        logits = self.model.logits(decoded[:, 0]).float()
        logits[:, self.model.architecture.never_generated_ids] = -math.inf
        if self.forbidden is not None:
            logits.masked_fill_(self.forbidden, -math.inf)
        return logits


@torch.inference_mode()
def greedy_search(
    model: TranslationNetwork,
    sources: Sequence[Sequence[int]],
    maximum_length: Callable[[int], int] = default_maximum_length,
    allowed: Sequence[Sequence[int]] | None = None,
) -> list[list[int]]:
    """Take the most probable next piece until eos or the limit; source ids without eos -> target ids without eos.

    allowed: for each source the ids that may be generated, including eos (a shortlist); None: all.
    """
    eos = model.architecture.eos_id
    decoding = _Decoding(model, sources, allowed)
    outputs: list[list[int]] = [[] for _ in sources]
    live = list(range(len(sources)))
    tokens = [first_decoder_input(model.architecture)] * len(live)
    while live:
        tokens = decoding.step(tokens).argmax(dim=-1).tolist()
        rows = []
        for row, (sentence, token) in enumerate(zip(live, tokens, strict=True)):
            if token != eos:
                outputs[sentence].append(token)
                if decoding.position < maximum_length(len(sources[sentence])):
                    rows.append(row)
        if len(rows) < len(live):
            live, tokens = [live[row] for row in rows], [tokens[row] for row in rows]
            if live:
                decoding.keep(rows)
    return outputs


@dataclass
class _Beam:
    """One sentence's search: live hypotheses (best first) and finished ones."""

    limit: int
    live: list[tuple[float, tuple[int, ...]]] = field(default_factory=lambda: [(0.0, ())])
    finished: list[Hypothesis] = field(default_factory=list)


@torch.inference_mode()
def beam_search(
    model: TranslationNetwork | Sequence[TranslationNetwork],
    sources: Sequence[Sequence[int]],
    beam: int,
    length_penalty: float = 1.0,
    maximum_length: Callable[[int], int] = default_maximum_length,
    allowed: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """Return the best `beam` hypotheses of each sentence, best first; source ids without eos.

    Several models of one vocabulary are an ensemble, which uses the mean of their log-probabilities.
    allowed: for each source the ids that may be generated, at least `beam` and eos (a shortlist); None: all.
    """
    models = model if isinstance(model, Sequence) else [model]
    architecture = models[0].architecture
    decodings = [_Decoding(each, sources, allowed) for each in models]
    beams = [_Beam(maximum_length(len(source))) for source in sources]
    rows = [(sentence, 0) for sentence in range(len(sources))]  # (sentence, live hypothesis) of each decoder row
    tokens = [first_decoder_input(architecture)] * len(rows)
    while rows:
        scores = torch.stack([torch.log_softmax(each.step(tokens), dim=-1) for each in decodings]).mean(dim=0)
        # Of equal ones, the first piece comes first.
        values, indices = (each[:, :beam] for each in scores.sort(dim=-1, descending=True, stable=True))
        candidates: dict[int, list[tuple[float, int, int]]] = {}
        for row, (row_values, row_indices) in enumerate(zip(values.tolist(), indices.tolist(), strict=True)):
            sentence, hypothesis = rows[row]
            score = beams[sentence].live[hypothesis][0]
            candidates.setdefault(sentence, []).extend(
                (score + value, row, token) for value, token in zip(row_values, row_indices, strict=True)
            )
        kept: list[int] = []
        rows, tokens = [], []
        for sentence, continuations in candidates.items():
            parents = _advance(beams[sentence], continuations, beam, length_penalty, architecture.eos_id)
            for hypothesis, (parent, token) in enumerate(parents):
                kept.append(parent)
                rows.append((sentence, hypothesis))
                tokens.append(token)
        if rows:
            for each in decodings:
                each.keep(kept)
    return [sorted(state.finished, key=lambda hypothesis: -hypothesis.score) for state in beams]


def _advance(
    state: _Beam, continuations: list[tuple[float, int, int]], beam: int, length_penalty: float, eos: int
) -> list[tuple[int, int]]:
    """Take one step of a sentence; returns (decoder row of the parent, token) of each hypothesis that stays live."""
    first_row = min(row for _, row, _ in continuations)
    continuations.sort(key=lambda candidate: (-candidate[0], candidate[1], candidate[2]))
    live, parents = [], []
    for score, row, token in continuations[: beam - len(state.finished)]:
        ids = state.live[row - first_row][1]
        if token == eos:
            state.finished.append(Hypothesis(ids, score / (len(ids) + 1) ** length_penalty))
        elif len(ids) + 1 >= state.limit:
            state.finished.append(Hypothesis((*ids, token), score / (len(ids) + 1) ** length_penalty))
        else:
            live.append((score, (*ids, token)))
            parents.append((row, token))
    state.live = live
    return parents
