"""What several models attend to in one sentence, side by side ([Z5], paper Z, figures 1 and 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.models.attention_weights import Kind, attention_heads, attention_weights
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import greedy_search
from pocketmt.recipes.any_model import AnyModel
from pocketmt.text.vocabulary import BOS, EOS, Vocabulary

MOST_PIECES: Final = 80  # of a side; more could not be read


@dataclass(frozen=True)
class ModelAttention:
    """One model's attention.

    Attributes:
        model: as it was given.
        layer: counted from 1.
        weights: from each query (row) to each key, rows adding up to 1.
        difference: from the first model: half the sum of a row's absolute differences, from 0 to 1, averaged over rows.
    """

    model: str
    layer: int
    weights: tuple[tuple[float, ...], ...]
    difference: float


@dataclass(frozen=True)
class AttentionComparison:
    """The attention of several models for the same sentence and the same translation of it.

    Attributes:
        kind: "cross", "encoder" or "decoder".
        head: counted from 1; None: the mean over all.
        queries: the pieces of the rows: of the target, those that are written there.
        keys: the pieces that are attended to: of the target, those that were read.
        source: the sentence.
        target: its translation, which every model is made to write.
        target_by: the model whose translation that is; None where it was given.
        models: in the order in which they were given.
    """

    kind: Kind
    head: int | None
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    source: str
    target: str
    target_by: str | None
    models: tuple[ModelAttention, ...]


def compare_attention(
    models: Sequence[str],
    text: str,
    target: str | None = None,
    *,
    kind: Kind = "cross",
    layer: int | None = None,
    head: int | None = None,
) -> AttentionComparison:
    """Run models, by PyTorch, on a sentence and one translation of it, the same for all, so that their rows compare.

    Args:
        models: model files, bundled models' names, or folders that `pocketmt train` wrote; all of one vocabulary.
        text: the sentence.
        target: its translation; None: what the first model writes, by greedy search.
        kind: which attention.
        layer: counted from 1; None: each model's last.
        head: counted from 1; None: the mean over all.

    Raises:
        DataError: no piece or too many of them, or models of different vocabularies.
        ConfigurationError: a layer or head that a model has not.
        ModelFileError: a model that cannot be read.
    """
    loaded = [_load(model) for model in models]
    vocabulary = loaded[0][1]
    for name, (_, other) in zip(models, loaded, strict=True):
        if other.model != vocabulary.model:
            raise DataError(f"{name}: its vocabulary is not that of {models[0]}: their pieces do not compare")
    chosen = [
        _chosen(name, model, kind, layer, head) for name, (model, _) in zip(models, loaded, strict=True)
    ]  # all, before the first is run
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
    """Return how far each model's attention is from the first one's."""
    rows = [{"model": each.model, "layer": each.layer, "difference": each.difference} for each in comparison.models]
    columns = [Column("model", "model"), Column("layer", "layer"), Column("difference", "difference", ".3f")]
    return plain_table(rows, columns)


def _load(name: str) -> tuple[TranslationNetwork, Vocabulary]:
    """Return a run's network, or the one that a model file's codes stand for, and its vocabulary."""
    torch.set_num_threads(1)  # one sentence gains nothing by more
    model = AnyModel(name)
    return model.network(), model.vocabulary


def _chosen(name: str, model: TranslationNetwork, kind: Kind, layer: int | None, head: int | None) -> int:
    """Return the layer, counted from 0; ConfigurationError where the model has no such layer or head."""
    try:
        heads = attention_heads(model, kind)
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
    """Return the total variation between the rows of two attentions [queries, keys], averaged."""
    return float((left - right).abs().sum(dim=-1).mean() / 2)
