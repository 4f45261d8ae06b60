"""Attention weights of several models on one sentence (Cheong and Daniel 2019, figures 1 and 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from benchmarks.attention.weights import attention_weights
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.model_file.architecture import AttentionKind
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import greedy_search
from pocketmt.packing.model_source import AnyModel
from pocketmt.text.vocabulary import BOS, EOS, Vocabulary

MOST_PIECES: Final = 80  # of a side; labels of more would be illegible


@dataclass(frozen=True)
class ModelAttention:
    """Attention weights of one model."""

    model: str  # the given name or path
    layer: int  # number from 1
    weights: tuple[tuple[float, ...], ...]  # of each key (column) for each query (row); rows sum to 1
    difference: float  # total variation distance to the first model's rows, 0 to 1, averaged over rows


@dataclass(frozen=True)
class AttentionComparison:
    """Attention weights of several models for the same sentence and translation."""

    kind: AttentionKind
    head: int | None  # number from 1; None: the mean over all heads
    queries: tuple[str, ...]  # pieces of the rows; of the target, output pieces
    keys: tuple[str, ...]  # pieces of the columns; of the target, input pieces
    source: str
    target: str  # the translation that every model is forced to write
    target_by: str | None  # the model that wrote the target; None if it was given
    models: tuple[ModelAttention, ...]  # in the given order


def compare_attention(
    models: Sequence[str],
    text: str,
    target: str | None = None,
    *,
    kind: AttentionKind = "cross",
    layer: int | None = None,
    head: int | None = None,
) -> AttentionComparison:
    """Run models in PyTorch on one sentence and the same translation, so that their attention weights are comparable.

    Args:
        models: model files, names of bundled models, or folders written by `pocketmt train`, with one vocabulary.
        text: the sentence.
        target: its translation; None: the first model's, by greedy search.
        kind: which attention.
        layer: number from 1; None: the last layer of each model.
        head: number from 1; None: the mean over all heads.

    Raises:
        DataError: the text has no pieces or too many, or vocabularies differ.
        ConfigurationError: a model does not have this layer or head.
        ModelFileError: a model cannot be read.
    """
    loaded = [_load(model) for model in models]
    vocabulary = loaded[0][1]
    for name, (_, other) in zip(models, loaded, strict=True):
        if other.model != vocabulary.model:
            raise DataError(f"{name}: its vocabulary is not that of {models[0]}: their pieces cannot be compared")
    # All are checked before the first runs.
    chosen = [_layer_index(name, model, kind, layer, head) for name, (model, _) in zip(models, loaded, strict=True)]
    source_ids = _encode(vocabulary, text)
    (written,) = [_encode(vocabulary, target)] if target is not None else greedy_search(loaded[0][0], [source_ids])
    taken: list[Tensor] = []
    for (model, _), place in zip(loaded, chosen, strict=True):
        weights = attention_weights(model, kind, place, source_ids, written)
        taken.append(weights.mean(dim=0) if head is None else weights[head - 1])
    pieces, outputs = vocabulary.pieces([*source_ids, EOS]), vocabulary.pieces([*written, EOS])
    return AttentionComparison(
        kind=kind,
        head=head,
        queries=tuple(pieces if kind == "encoder" else outputs),
        keys=tuple(vocabulary.pieces([BOS, *written]) if kind == "decoder" else pieces),
        source=text,
        target=vocabulary.decode(written),
        target_by=models[0] if target is None else None,
        models=tuple(
            ModelAttention(name, place + 1, tuple(map(tuple, weights.tolist())), _difference(weights, taken[0]))
            for name, place, weights in zip(models, chosen, taken, strict=True)
        ),
    )


def attention_table(comparison: AttentionComparison) -> str:
    """Return a table of the difference of each model from the first."""
    columns = [Column.parse(text) for text in ("model", "layer", "difference:.3f")]
    return plain_table([vars(each) for each in comparison.models], columns)


def _load(name: str) -> tuple[TranslationNetwork, Vocabulary]:
    """Return the network of a run or model file, and its vocabulary."""
    torch.set_num_threads(1)  # more threads do not speed up one sentence
    model = AnyModel(name)
    return model.network(), model.vocabularies.source


def _layer_index(name: str, model: TranslationNetwork, kind: AttentionKind, layer: int | None, head: int | None) -> int:
    """Return the index of the layer from 0; ConfigurationError if the model does not have this layer or head."""
    try:
        heads = model.architecture.heads_of_layers(kind)
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error}") from error
    if layer is not None and not 1 <= layer <= len(heads):
        raise ConfigurationError(f"{name}: there is no layer {layer}: give 1 to {len(heads)}")
    chosen = (len(heads) if layer is None else layer) - 1
    if head is not None and not 1 <= head <= heads[chosen]:
        raise ConfigurationError(f"{name}: there is no head {head}: give 1 to {heads[chosen]}")
    return chosen


def _encode(vocabulary: Vocabulary, text: str) -> list[int]:
    ids = vocabulary.encode(text)
    if not 1 <= len(ids) <= MOST_PIECES:
        raise DataError(f"{text!r:.60} has {len(ids)} pieces, a picture shows 1 to {MOST_PIECES}: give one sentence")
    return ids


def _difference(left: Tensor, right: Tensor) -> float:
    """Return the total variation distance of rows of two weight matrices [queries, keys], averaged over rows."""
    return float((left - right).abs().sum(dim=-1).mean() / 2)
