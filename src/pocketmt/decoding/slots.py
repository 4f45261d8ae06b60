"""Sentences that are decoded together: their states in tensors of fixed shapes, and one step of all of them.

On a GPU the step is captured as a CUDA graph, so that its many small kernels are started by one call.

Shapes: N sentences, B hypotheses of each, S source positions, L target positions, d model dimension.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from pocketmt.decoding.captured_step import capture_step
from pocketmt.decoding.fixed_search import FixedSearch
from pocketmt.decoding.requests import Request, SearchSettings, Translation
from pocketmt.models.attention import FixedCache, Steps
from pocketmt.models.inputs import encoder_input, first_decoder_input, pad
from pocketmt.models.network import TranslationNetwork


@dataclass(frozen=True)
class SlotShape:
    """Sizes and options that determine the shapes of the tensors.

    Attributes:
        count: number of sentences.
        source: most tokens of a source, with eos.
        target: most steps of a translation.
        shortlists: whether requests may have shortlists.
        prefixes: whether requests may have prefixes.
    """

    count: int
    source: int
    target: int
    shortlists: bool = False
    prefixes: bool = False


class _NetworkStates:
    """States of the decoder of one network."""

    def __init__(self, network: TranslationNetwork, shape: SlotShape, steps: Steps) -> None:
        self.network = network
        weight = network.embedding.weight
        self.target = network.fixed_states(len(steps.position), shape.target, steps)
        empty = torch.full((1, shape.source), network.architecture.eos_id, device=weight.device)
        template = network.split_states(network.start(network.encode(empty)[0]))[1]
        self.source = [each.new_zeros(shape.count, *each.shape[1:]) for each in template]
        self.mask = torch.zeros(shape.count, 1, 1, shape.source, device=weight.device)
        # A captured graph reads the table of positions of now, also after the network has made a longer one.
        self._buffers = list(network.buffers())
        never = network.architecture.never_generated_ids
        self._never = torch.tensor(never, dtype=torch.int64, device=weight.device)

    @cached_property
    def rows(self) -> list[Tensor]:
        """The states of the target, one row for each hypothesis."""
        return list(_tensors(self.target))

    def encode(self, places: Tensor, rows: Tensor, sources: Sequence[Sequence[int]]) -> None:
        """Encode the sources of sentences [n], whose hypotheses are the rows [n B]."""
        network = self.network
        read = pad([encoder_input(network.architecture, source) for source in sources], places.device)
        encoded, mask = network.encode(read)
        length = read.shape[1]
        for stored, new in zip(self.source, network.split_states(network.start(encoded))[1], strict=True):
            stored.index_fill_(0, places, 0.0)
            stored[places, :, :length] = new
        self.mask.index_fill_(0, places, -math.inf)
        self.mask[places, :, :, :length] = 0.0 if mask is None else mask
        for state in self.target:
            if isinstance(state, FixedCache):
                state.clear(rows)
            else:
                for each in _tensors(state):
                    each.index_fill_(0, rows, 0.0)

    def step(self, token: Tensor, position: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Feed a token to each row [N B]; returns the next logits [N B, V], and the new states that are not caches."""
        network = self.network
        states = network.join_states(self.target, self.source)
        decoded, states = network.decode(token[:, None], states, self.mask, position)
        logits = network.logits(decoded[:, 0])
        return logits.index_fill_(1, self._never, -math.inf), _recurrent(network.split_states(states)[0])

    def keep(self, states: Sequence[Tensor], parents: Tensor | None) -> None:
        """Store new states, those of the given rows; None: of all in their order."""
        for stored, new in zip(_recurrent(self.target), states, strict=True):
            if parents is not None:
                stored.copy_(new.index_select(0, parents))
            elif stored is not new:
                stored.copy_(new)


class Slots:
    """N places for sentences; a place without a sentence is computed as well, and its results are not used."""

    def __init__(
        self,
        networks: Sequence[TranslationNetwork],
        settings: SearchSettings,
        shape: SlotShape,
        *,
        capture: bool = True,
    ) -> None:
        """Take networks in evaluation mode, of one vocabulary; several are an ensemble.

        Without `capture`, no CUDA graph is made: for a look at the sizes.
        """
        architecture = networks[0].architecture
        device = networks[0].embedding.weight.device
        self.settings, self.shape = settings, shape
        self.search = FixedSearch(
            settings,
            (shape.count, shape.target),
            first_decoder_input(architecture),
            architecture.eos_id,
            device,
            forbidden=architecture.vocabulary_size if shape.shortlists else None,
            prefixes=shape.prefixes,
        )
        steps = Steps(self.search.position.view(-1), self.search.writers)
        self._networks = [_NetworkStates(network, shape, steps) for network in networks]
        self._graph = capture_step(self._step, device) if capture else None

    @property
    def bytes(self) -> int:
        """Memory of all states."""
        return sum(each.numel() * each.element_size() for each in self._all_tensors())

    def _all_tensors(self) -> list[Tensor]:
        states = [each for network in self._networks for each in (*network.rows, *network.source, network.mask)]
        return [*self.search.tensors(), *states]

    def fill(self, places: Sequence[int], requests: Sequence[Request]) -> None:
        """Put sentences into places, and encode them."""
        beam, device = self.settings.beam_size, self.search.position.device
        chosen = torch.tensor(places, device=device)
        rows = (chosen[:, None] * beam + torch.arange(beam, device=device)).flatten()
        for network in self._networks:
            network.encode(chosen, rows, [request.source for request in requests])
        self.search.start(chosen, requests)

    def step(self) -> None:
        """Take one step of all sentences. A live sentence must be at a position below the shape's `target`."""
        if self._graph is None:
            self._step()
        else:
            self._graph.replay()

    def _step(self) -> None:
        token, position = self.search.token.view(-1), self.search.position.view(-1)
        values, states = [], []
        for network in self._networks:
            logits, new = network.step(token, position)
            self.search.forbid(logits)
            values.append(logits)
            states.append(new)
        greedy = self.settings.beam_size == 1
        if len(values) > 1:
            values = [torch.stack([torch.log_softmax(each.float(), dim=-1) for each in values]).mean(dim=0)]
            are_logits = False
        else:
            are_logits = self.settings.scores or not greedy
        parents = self.search.advance(values[0], logits=are_logits)
        for network, new in zip(self._networks, states, strict=True):
            network.keep(new, None if greedy else parents)

    def results(self, places: Sequence[int]) -> list[list[Translation]]:
        """Return the hypotheses of sentences that are done, best first."""
        return self.search.results(torch.tensor(places, device=self.search.position.device))

    def move(self, places: Sequence[int], other: "Slots") -> None:
        """Move sentences to the first places of others, of another shape, where no sentence is.

        Take no step of these places before they are cleared.
        """
        beam, device = self.settings.beam_size, self.search.position.device
        chosen = torch.tensor(places, device=device)
        rows = (chosen[:, None] * beam + torch.arange(beam, device=device)).flatten()
        _copy(self.search.tensors(), other.search.tensors(), chosen)
        for network, new in zip(self._networks, other._networks, strict=True):
            _copy(network.rows, new.rows, rows)
            _copy([*network.source, network.mask], [*new.source, new.mask], chosen)


def _recurrent(states: Sequence[Any]) -> list[Tensor]:
    """Return the tensors of a decoder's states, without those of caches: they go from a hypothesis to the next ones."""
    return [each for state in states if not isinstance(state, FixedCache) for each in _tensors(state)]


def _tensors(states: Any) -> Iterator[Tensor]:
    """Yield the tensors of a decoder's states."""
    if isinstance(states, Tensor):
        yield states
    elif isinstance(states, FixedCache):
        yield from (states.key, states.value)
    else:
        for each in states:
            yield from _tensors(each)


def _copy(tensors: Sequence[Tensor], others: Sequence[Tensor], rows: Tensor) -> None:
    """Copy rows to the first rows of tensors that may have other sizes; only what both have is copied."""
    for tensor, other in zip(tensors, others, strict=True):
        common = [slice(0, min(sizes)) for sizes in zip(tensor.shape[1:], other.shape[1:], strict=True)]
        other[(slice(0, len(rows)), *common)] = tensor[(slice(None), *common)].index_select(0, rows)
