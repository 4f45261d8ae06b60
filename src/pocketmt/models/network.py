"""Base classes of the networks: a tied embedding, and the interface that training and search use."""

import math
from typing import Any

from torch import Tensor, nn

from pocketmt.model_file.architecture import Architecture
from pocketmt.models.dropout import Dropout, Dropouts


def layer_norm(architecture: Architecture, size: int) -> nn.LayerNorm:
    """Return a layer normalization of rows of `size` elements, with the architecture's epsilon."""
    return nn.LayerNorm(size, architecture.normalization_epsilon)


class TiedNetwork(nn.Module):
    """A network with one matrix for input embedding and output projection; subclasses add the layers."""

    def __init__(self, architecture: Architecture, dropouts: Dropouts) -> None:
        super().__init__()
        self.architecture = architecture
        self.embedding = nn.Embedding(architecture.vocabulary_size, architecture.model_dimension)
        self.embedding_dropout = Dropout(dropouts.residual)
        # Replaces the product with the embedding where its codes are multiplied with.
        self.projection: nn.Module | None = None

    def initialize(self) -> None:
        """Glorot-uniform matrices, an embedding of unit variance after its scaling by sqrt(d), zero biases."""
        for name, parameter in self.named_parameters():
            if name == "embedding.weight":
                nn.init.normal_(parameter, std=self.architecture.model_dimension**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def scaled_embedding(self, tokens: Tensor) -> Tensor:
        """Token ids [B, T] -> [B, T, d], times sqrt(d)."""
        embedded: Tensor = self.embedding(tokens) * math.sqrt(self.architecture.model_dimension)
        return embedded

    def text_masks(self, *tokens: Tensor) -> list[tuple[nn.Module, Tensor]]:
        """Return each stack of layers with a mask of its positions, bool [B, T], False at padding.

        `tokens` are the arguments of `forward`. Empty for a network whose inputs are never padded.
        """
        return []

    def logits(self, decoded: Tensor) -> Tensor:
        """Output of the last layer [.., d] -> logits [.., V] by the tied embedding."""
        if self.projection is not None:
            projected: Tensor = self.projection(decoded)
            return projected
        return nn.functional.linear(decoded, self.embedding.weight)


class TranslationNetwork(TiedNetwork):
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

    def decode(self, target: Tensor, states: Any, source_mask: Tensor | None, position: int = 0) -> tuple[Tensor, Any]:
        """Target ids [B, T] from `position` on -> (decoder output [B, T, d], new states)."""
        raise NotImplementedError

    def text_masks(self, *tokens: Tensor) -> list[tuple[nn.Module, Tensor]]:
        """Return encoder and decoder with their masks, for source [B, S] and target inputs [B, T]."""
        stacks = (self.get_submodule(name) for name in ("encoder", "decoder"))
        return [(stack, each != self.architecture.pad_id) for stack, each in zip(stacks, tokens, strict=True)]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Teacher-forced decoder output [B, T, d] for source [B, S] and target inputs [B, T] (bos first)."""
        encoded, mask = self.encode(source)
        return self.decode(target, self.start(encoded), mask)[0]


def select(states: Any, rows: Tensor) -> Any:
    """Decoder states of the given rows [N]."""
    if states is None:
        return None
    if isinstance(states, Tensor):
        return states.index_select(0, rows)
    return type(states)(select(each, rows) for each in states)
