"""What a recipe says of pruning: the entries of [[stages.prune]], one struct a method."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from pocketmt.recipes.description.strict import Fraction, Name, Positive, PositiveFloat, Strict

NODE_BATCHES: Final = 300  # "a few hundred steps" (paper Q, appendix B)

Matrices = Annotated[list[Name], Meta(min_length=1)]
# Beside 0, of a share that something is left of.
Share = Annotated[float, Meta(gt=0, lt=1)]


class FeedForwardNodes(Strict, frozen=True, kw_only=True, tag_field="method", tag="feed_forward_nodes"):
    """Nodes of feed-forward layers go at the stage's start, before it quantizes or retrains anything [Q7]."""

    matrices: Matrices  # whole feed-forward layers, as "encoder.feed_forward"
    # x_max, the running maximum of a node's activation on the training text, or the L1 norm of all its weights.
    criterion: Literal["largest_activation", "weight_norm"] = "largest_activation"
    threshold: PositiveFloat | None = None  # z: those go whose x_max < z sigma(x_max of the layer)
    ratio: Share | None = None  # in its place: this share of every layer's nodes
    batches: Positive | None = None  # of training text, from which x_max is estimated; None: NODE_BATCHES

    def __post_init__(self) -> None:
        if (self.threshold is None) == (self.ratio is None):
            raise ValueError("give `threshold` or `ratio`, one of the two")
        if self.criterion == "weight_norm" and (self.threshold is not None or self.batches is not None):
            raise ValueError("weight_norm goes with `ratio` alone: `threshold` and `batches` are of activations")


class GroupLasso(Strict, frozen=True, kw_only=True, tag_field="method", tag="group_lasso"):
    """Retraining in full precision drives heads and nodes to zero; they go at its end [E5].

    The penalty, lambda * sum_g sqrt(weights in g) * ||g||_2, is added to the cross-entropy summed over a batch. Groups
    g of feed-forward layers are rows and columns, those of attention too, or whole heads' parts of each matrix.
    """

    matrices: Matrices  # whole sub-layers, as "encoder.self_attention"
    granularity: Literal["heads", "rows_and_columns"]
    strength: PositiveFloat  # lambda
    dead_below: PositiveFloat = 1e-3  # the root mean square of a group's weights


class Magnitude(Strict, frozen=True, kw_only=True, tag_field="method", tag="magnitude"):
    """Weights nearest to zero become zero while retraining in full precision, more and more of each matrix [Z3]."""

    matrices: Matrices
    from_share: Fraction  # X, at the start
    to_share: Share  # Y
    steps: Positive = 9  # to Y; (Y - X) / steps more at each
    period: Positive  # updates between steps

    def __post_init__(self) -> None:
        if self.to_share < self.from_share:
            raise ValueError("to_share is less than from_share: weights that are zero stay so")


Pruning = FeedForwardNodes | GroupLasso | Magnitude


def limit_pruning(pruning: Pruning, most: int) -> Pruning:
    """Return an entry with at most so many batches, or steps that fit into so many updates: for a trial."""
    if isinstance(pruning, Magnitude) and pruning.steps * pruning.period > most:
        steps = min(pruning.steps, most)
        return msgspec.structs.replace(pruning, steps=steps, period=most // steps)
    if isinstance(pruning, FeedForwardNodes) and pruning.criterion == "largest_activation":
        return msgspec.structs.replace(pruning, batches=min(pruning.batches or NODE_BATCHES, most))
    return pruning
