"""Greedy and beam search of many sentences at once, whose state is tensors of fixed shapes on the device.

The rules are those of `pocketmt.models.search`. No step waits for the device or depends on values on the host, so that
it can be captured as a CUDA graph. A sentence's hypotheses are stored as back-pointers: at each step, the chosen
candidates with their parents.

Shapes: N sentences, B hypotheses of each (the beam), V pieces, L positions.
"""

import math
from collections.abc import Sequence
from itertools import islice, repeat

import torch
from torch import Tensor

from pocketmt.decoding.best_pieces import best_pieces
from pocketmt.decoding.requests import Request, SearchSettings, Translation


class FixedSearch:
    """The search of N sentences, each at its own position; without a request, a sentence stands still.

    Attributes:
        position: of the token that each hypothesis reads next, int64 [N, B]; equal for those of a sentence.
        token: that token, int64 [N, B].
        writers: the hypothesis that read the token of each earlier position of a hypothesis, int64 [N, B, L] (`Steps`);
            None in greedy search.
    """

    def __init__(
        self,
        settings: SearchSettings,
        shape: tuple[int, int],
        first_input: int,
        eos: int,
        device: torch.device,
        *,
        forbidden: int | None = None,
        prefixes: bool = False,
    ) -> None:
        """Create the search of sentences without requests.

        Args:
            settings: of the search.
            shape: N and L.
            first_input: what the decoder reads first.
            eos: end of sentence.
            device: of all tensors.
            forbidden: number of pieces, of which each request may forbid some; None: requests forbid none.
            prefixes: whether requests may have prefixes.
        """
        self.settings, self.first_input, self.eos = settings, first_input, eos
        count, positions, beam = shape[0], shape[1], settings.beam_size
        self._ranks = torch.arange(beam, device=device)
        whole = {"dtype": torch.int64, "device": device}
        self.position = torch.zeros(count, beam, **whole)  # type: ignore[call-overload]
        self.token = torch.full_like(self.position, eos)
        # Summed log-probability of each live hypothesis; -inf: there is none.
        self._score = torch.full((count, beam), -math.inf, dtype=torch.float64, device=device)
        self._limit = torch.ones(count, **whole)  # type: ignore[call-overload]
        # The finished hypotheses: score, step and rank of the last candidate. The last column takes what is not stored.
        self._finished = torch.zeros(count, **whole)  # type: ignore[call-overload]
        self._final_score = torch.zeros(count, beam + 1, dtype=torch.float64, device=device)
        self._final_step = torch.zeros(count, beam + 1, **whole)  # type: ignore[call-overload]
        self._final_rank = torch.zeros_like(self._final_step)
        # Candidates that were chosen at each step: token, rank of the parent, log-probability.
        self._tokens = torch.zeros(count, beam, positions, **whole)  # type: ignore[call-overload]
        self._parents = torch.zeros_like(self._tokens)
        self._token_scores = torch.zeros(count, beam, positions, device=device)
        self.writers = self._own_ranks(count, positions) if beam > 1 else None
        self._prefix = torch.full((count, positions), -1, **whole) if prefixes else None  # type: ignore[call-overload]
        self._forbidden = None if forbidden is None else torch.zeros(count, forbidden, dtype=torch.bool, device=device)
        self._first_rows = torch.arange(count, device=device)[:, None] * beam

    def tensors(self) -> list[Tensor]:
        """Return the state: tensors whose first dimension is N; those of L positions have them last."""
        given = [each for each in (self.writers, self._prefix, self._forbidden) if each is not None]
        finished = [self._finished, self._final_score, self._final_step, self._final_rank]
        chosen = [self._tokens, self._parents, self._token_scores]
        return [self.position, self.token, self._score, self._limit, *finished, *chosen, *given]

    def start(self, places: Tensor, requests: Sequence[Request]) -> None:
        """Give sentences [n] the requests of others."""
        device = self.position.device
        for tensor, value in ((self.position, 0), (self._finished, 0), (self.token, self.first_input)):
            tensor.index_fill_(0, places, value)
        self._score.index_fill_(0, places, -math.inf)
        self._score[places, 0] = 0.0
        self._limit[places] = torch.tensor([request.limit for request in requests], device=device)
        if self.writers is not None:
            self.writers[places] = self._own_ranks(len(requests), self.writers.shape[2])
        if self._prefix is not None:
            self._prefix[places] = -1
            for place, request in zip(places.tolist(), requests, strict=True):
                self._prefix[place, : len(request.prefix)] = torch.tensor(request.prefix, dtype=torch.int64)
        if self._forbidden is not None:
            for place, request in zip(places.tolist(), requests, strict=True):
                self._forbidden[place] = request.allowed is not None
                if request.allowed is not None:
                    self._forbidden[place, torch.tensor(request.allowed, device=device)] = False

    def _own_ranks(self, count: int, positions: int) -> Tensor:
        """Return the rank of each hypothesis at each position, int64 [count, B, positions]."""
        return self._ranks[None, :, None].repeat(count, 1, positions)

    def clear(self) -> None:
        """Take the requests from all sentences, and forget them, as if no step had been taken."""
        self._score.fill_(-math.inf)
        # After a move to longer tensors, the old position may be beyond the end of these.
        self.position.zero_()
        # A sentence that moves here fills only the positions that it had before; the others must not keep old values.
        if self.writers is not None:
            self.writers.copy_(self._own_ranks(*self.writers.shape[::2]))
        if self._prefix is not None:
            self._prefix.fill_(-1)

    def forbid(self, logits: Tensor) -> None:
        """Set the logits [N B, V] of pieces that requests forbid, or of an early eos, to -inf."""
        if self.settings.min_length > 0:
            early = self.position.view(-1) + 1 < self.settings.min_length
            logits[:, self.eos].masked_fill_(early, -math.inf)
        if self._forbidden is not None:
            logits.view(len(self._forbidden), -1, logits.shape[-1]).masked_fill_(self._forbidden[:, None], -math.inf)

    def advance(self, values: Tensor, *, logits: bool) -> Tensor:
        """Choose the next token of every hypothesis.

        Args:
            values: log-probabilities, logits, or what greedy search without scores compares; [N B, V], changed.
            logits: whether they are logits, of which log-probabilities are to be made.

        Returns:
            The row of each hypothesis' parent, int64 [N B].
        """
        beam, step = self.settings.beam_size, self.position[:, 0]
        scores, tokens, counted = self._best_of_each(values, step, logits)
        width = tokens.shape[-1]
        totals = (self._score[:, :, None] + counted.double()).flatten(1)
        # Of equal candidates, the first hypothesis' come first.
        best, order = totals.sort(dim=1, descending=True, stable=True)
        best, order = best[:, :beam], order[:, :beam]
        token = tokens.flatten(1).gather(1, order)
        chosen = (self._ranks < beam - self._finished[:, None]) & (best > -math.inf)
        parent = torch.where(chosen, order // width, self._ranks)
        ends = (token == self.eos) | (step + 1 >= self._limit)[:, None]
        self._store(step, (token, parent, scores.flatten(1).gather(1, order)))
        self._finish(chosen & ends, best, step)
        live = chosen & ~ends
        self._score.copy_(torch.where(live, best, -math.inf))
        self.token.copy_(torch.where(live, token, self.eos))
        self._follow(parent, step)
        self.position += live.any(dim=1, keepdim=True)
        return (self._first_rows + parent).flatten()

    def _follow(self, parent: Tensor, step: Tensor) -> None:
        """Give hypotheses the earlier positions of their parents, ranks [N, B]; later ones they write themselves."""
        if self.writers is None:
            return
        earlier = torch.arange(self.writers.shape[2], device=step.device) <= step[:, None, None]
        inherited = self.writers.gather(1, parent[:, :, None].expand_as(self.writers))
        self.writers.copy_(torch.where(earlier, inherited, self._ranks[:, None]))

    def _best_of_each(self, values: Tensor, step: Tensor, logits: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return the best continuations of each hypothesis, [N, B, W]: log-probabilities, tokens, and what counts."""
        count, beam = self._score.shape
        forced = None if self._prefix is None else self._prefix.gather(1, step[:, None]).repeat_interleave(beam, 0)
        if forced is not None:
            values, logits = torch.log_softmax(values.float(), dim=-1) if logits else values, False
            plain = values.gather(1, forced.clamp(min=0))
            values.masked_fill_(forced >= 0, -math.inf)
            # A forced piece counts as certain.
            kept = torch.where(forced >= 0, 0.0, plain)
            values.scatter_(1, forced.clamp(min=0), kept)
        counted, tokens = best_pieces(values, min(beam, values.shape[-1]), logits=logits)
        scores = counted
        if forced is not None:
            scores = torch.where((forced >= 0) & (tokens == forced), plain, counted)
        return scores.view(count, beam, -1), tokens.view(count, beam, -1), counted.view(count, beam, -1)

    def _store(self, step: Tensor, chosen: tuple[Tensor, Tensor, Tensor]) -> None:
        """Store the candidates [N, B] of a step; sentences that are done keep theirs."""
        place = step[:, None, None].expand(-1, self.settings.beam_size, 1)
        searched = (self._score > -math.inf).any(dim=1)[:, None, None]
        for stored, new in zip((self._tokens, self._parents, self._token_scores), chosen, strict=True):
            stored.scatter_(2, place, torch.where(searched, new[..., None], stored.gather(2, place)))

    def _finish(self, finishing: Tensor, best: Tensor, step: Tensor) -> None:
        """Add the candidates [N, B] that end to the finished hypotheses, in their order."""
        beam = self.settings.beam_size
        place = torch.where(finishing, self._finished[:, None] + finishing.cumsum(dim=1) - 1, beam)
        length = (step + 1).double() ** self.settings.length_penalty
        self._final_score.scatter_(1, place, best / length[:, None])
        self._final_step.scatter_(1, place, step[:, None].expand_as(place))
        self._final_rank.scatter_(1, place, self._ranks.expand_as(place))
        self._finished += finishing.sum(dim=1)

    def progress(self) -> tuple[list[bool], list[int]]:
        """Return which sentences have live hypotheses, and the position of each; waits for the device."""
        live = (self._score > -math.inf).any(dim=1)
        both = torch.stack([live.long(), self.position[:, 0]]).tolist()
        return [bool(each) for each in both[0]], both[1]

    def results(self, places: Tensor) -> list[list[Translation]]:
        """Return the finished hypotheses of sentences [n], best first; waits for the device."""
        beam, settings = self.settings.beam_size, self.settings
        used = int(self.position[places, 0].max()) + 1
        counts = self._finished[places]
        scores = self._final_score[places, :beam].masked_fill(self._ranks >= counts[:, None], -math.inf)
        scores, order = scores.sort(dim=1, descending=True, stable=True)
        order = order[:, : settings.n_best]
        steps, ranks = (each[places].gather(1, order) for each in (self._final_step, self._final_rank))
        ids, token_scores = self._read(places, steps, ranks, used)
        if beam == 1 and not settings.scores:
            scores = torch.zeros_like(scores)
        rows = [each.tolist() for each in (counts, ids, steps, scores)]
        details = repeat(repeat([])) if token_scores is None else token_scores.tolist()
        return [
            [self._translation(*hypothesis) for hypothesis in islice(zip(*found, strict=False), count)]
            for count, *found in zip(*rows, details, strict=False)
        ]

    def _read(self, places: Tensor, steps: Tensor, ranks: Tensor, used: int) -> tuple[Tensor, Tensor | None]:
        """Follow the parents of hypotheses [n, k] back to their beginnings.

        Args:
            places: sentences [n].
            steps, ranks: of their last candidates [n, k].
            used: number of positions that are read.

        Returns:
            Tokens [n, k, used], and their log-probabilities if they are asked for; those behind a step are not valid.
        """
        stored = [self._tokens, self._token_scores] if self.settings.scores else [self._tokens]
        stored = [each[places, :, :used] for each in stored]
        if self.settings.beam_size == 1:
            return stored[0], stored[1] if self.settings.scores else None
        parents = self._parents[places, :, :used]
        found = [each.new_zeros(*ranks.shape, used) for each in stored]
        for position in reversed(range(used)):
            for each, new in zip(stored, found, strict=True):
                new[..., position] = each[..., position].gather(1, ranks)
            ranks = torch.where(position <= steps, parents[..., position].gather(1, ranks), ranks)
        return found[0], found[1] if self.settings.scores else None

    def _translation(self, tokens: list[int], step: int, score: float, token_scores: Sequence[float]) -> Translation:
        """Return a hypothesis whose last candidate is that of a step."""
        end = step if tokens[step] == self.eos else step + 1
        return Translation(tuple(tokens[:end]), score, tuple(token_scores[: step + 1]))
