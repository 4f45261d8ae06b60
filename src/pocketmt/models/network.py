"""Base classes of the networks: embeddings, output projection, and the interface that training and search use."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.model_file.architecture import Architecture
from pocketmt.models.attention import Steps
from pocketmt.models.dropout import Dropout, Dropouts
from pocketmt.models.inputs import PADDING, ZERO


def layer_norm(architecture: Architecture, size: int) -> nn.LayerNorm:
    """Return a layer normalization of rows of `size` elements, with the architecture's epsilon."""
    return nn.LayerNorm(size, architecture.normalization_epsilon)


class Output(nn.Module):
    """Parameters of the output projection: a weight [V, d] if it is untied, a bias [V]; None: there is none."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        rows, columns = architecture.vocabulary_size, architecture.model_dimension
        untied = architecture.output_projection == "untied"
        self.weight = nn.Parameter(torch.empty(rows, columns)) if untied else None
        self.bias = nn.Parameter(torch.empty(rows)) if architecture.output_bias else None


class Network(nn.Module):
    """A network from pieces to logits; subclasses add the layers."""

    def __init__(self, architecture: Architecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.architecture = architecture
        self.embedding = nn.Embedding(architecture.vocabulary_size, architecture.model_dimension)
        if architecture.embeddings == "separate":
            self.source_embedding = nn.Embedding(architecture.source_size, architecture.model_dimension)
        self.output = Output(architecture)
        self.embedding_dropout = Dropout(dropouts.residual)
        self.embedding_scale = math.sqrt(architecture.model_dimension) if architecture.scale_embeddings else 1.0
        # Replaces the product with the output matrix where its codes are multiplied with.
        self.projection: nn.Module | None = None

    def initialize(self) -> None:
        """Glorot-uniform matrices, embeddings of unit variance after their scaling, zero biases."""
        for name, parameter in self.named_parameters():
            if name in ("embedding.weight", "source_embedding.weight"):
                nn.init.normal_(parameter, std=1.0 / self.embedding_scale)
            elif name == "output.weight":
                nn.init.normal_(parameter, std=self.architecture.model_dimension**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def embed_source(self, tokens: Tensor) -> Tensor:
        """Source ids [B, S] -> [B, S, d], scaled; padding has any values."""
        separate = self.architecture.embeddings == "separate"
        return self._scaled(self.source_embedding if separate else self.embedding, tokens)

    def embed_target(self, tokens: Tensor) -> Tensor:
        """Target ids [B, T] -> [B, T, d], scaled; padding has any values, ZERO is zeros."""
        embedded = self._scaled(self.embedding, tokens)
        if self.architecture.first_input_id is None:
            return embedded.masked_fill((tokens == ZERO)[..., None], 0.0)
        return embedded

    def _scaled(self, embedding: nn.Module, tokens: Tensor) -> Tensor:
        embedded: Tensor = embedding(tokens.clamp(min=0)) * self.embedding_scale
        return embedded

    def text_masks(self, *tokens: Tensor) -> list[tuple[nn.Module, Tensor]]:
        """Return each stack of layers with a mask of its positions, bool [B, T], False at padding.

        `tokens` are the arguments of `forward`. Empty for a network whose inputs are never padded.
        """
        return []

    @property
    def output_weight(self) -> Tensor:
        """The output projection's matrix [V, d], which may be the embedding."""
        return self.embedding.weight if self.output.weight is None else self.output.weight

    def logits(self, decoded: Tensor) -> Tensor:
        """Output of the last layer [.., d] -> logits [.., V]."""
        if self.projection is not None:
            projected: Tensor = self.projection(decoded)
            return projected
        return nn.functional.linear(decoded, self.output_weight, self.output.bias)


class TranslationNetwork(Network):
    """The interface of every translation network.

    Shapes: B sentences, S source positions, T target positions, d model dimension. A decoder's states, of the positions
    so far and of the source, are tensors [B, ..] in lists and tuples, or None before the first position (`select`).
    """

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Source ids [B, S], padded -> (encoder output [B, S, ..], its attention mask [B, 1, 1, S])."""
        raise NotImplementedError

    def start(self, encoded: Tensor) -> Any:
        """Return the decoder's states before the first target token, for an encoder output."""
        raise NotImplementedError

    def decode(
        self, target: Tensor, states: Any, source_mask: Tensor | None, position: int | Tensor = 0
    ) -> tuple[Tensor, Any]:
        """Target ids [B, T] from `position` on -> (decoder output [B, T, d], new states).

        With states of fixed shapes, T is 1, and `position` is that of each row, int64 [B]. The states of the source may
        then be those of fewer sentences, each of which has as many rows, one after the other.
        """
        raise NotImplementedError

    def fixed_states(self, rows: int, positions: int, steps: Steps) -> Any:
        """Return the states of the target before its first token, in tensors whose shapes stay the same.

        Args:
            rows: number of rows.
            positions: most tokens of a target.
            steps: where the rows are, which the caller changes between steps.
        """
        raise NotImplementedError

    def join_states(self, target: Any, source: list[Tensor]) -> Any:
        """Return the states that `decode` takes, from those of the target and of the source."""
        raise NotImplementedError

    def split_states(self, states: Any) -> tuple[Any, list[Tensor]]:
        """Return the states of the target, and the tensors [B, ..] of the source; `join_states` joins them again."""
        raise NotImplementedError

    def text_masks(self, *tokens: Tensor) -> list[tuple[nn.Module, Tensor]]:
        """Return encoder and decoder with their masks, for source [B, S] and target inputs [B, T]."""
        stacks = (self.get_submodule(name) for name in ("encoder", "decoder"))
        return [(stack, each != PADDING) for stack, each in zip(stacks, tokens, strict=True)]

    def layers_to_compile(self) -> list[nn.Module]:
        """Return the layers that compilation makes faster in training; none for a network with loops over positions."""
        return []

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Teacher-forced decoder output [B, T, d] for source [B, S] and target inputs [B, T] (`decoder_input`)."""
        encoded, mask = self.encode(source)
        return self.decode(target, self.start(encoded), mask)[0]


def select(states: Any, rows: Tensor) -> Any:
    """Decoder states of the given rows [N]."""
    if states is None:
        return None
    if isinstance(states, Tensor):
        return states.index_select(0, rows)
    return type(states)(select(each, rows) for each in states)
