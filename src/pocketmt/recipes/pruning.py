"""Pruning in recipes: the entries of [[stages.prune]], one struct for each method."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from pocketmt.recipes.constrained_types import Fraction, Name, Positive, PositiveFloat, Strict

NODE_BATCHES: Final = 300  # "a few hundred steps" (Prato et al. 2020, appendix B)

Matrices = Annotated[list[Name], Meta(min_length=1)]
Share = Annotated[float, Meta(gt=0, lt=1)]


class FeedForwardNodes(Strict, frozen=True, kw_only=True, tag_field="method", tag="feed_forward_nodes"):
    """Remove nodes of feed-forward layers at the start of a stage (Prato et al. 2020, appendix B)."""

    matrices: Matrices  # Whole feed-forward layers, such as "encoder.feed_forward".
    # The running maximum of a node's activation on the training text (x_max), or the L1 norm of its weights.
    criterion: Literal["largest_activation", "weight_norm"] = "largest_activation"
    threshold: PositiveFloat | None = None  # z: nodes with x_max < z sigma(x_max of the layer) are removed.
    ratio: Share | None = None  # Share of the nodes of each layer to remove, instead of `threshold`.
    batches: Positive | None = None  # Batches of training text that estimate x_max; None: 300.

    def __post_init__(self) -> None:
        if (self.threshold is None) == (self.ratio is None):
            raise ValueError("give `threshold` or `ratio`, one of the two")
        if self.criterion == "weight_norm" and (self.threshold is not None or self.batches is not None):
            raise ValueError("weight_norm goes with `ratio` alone: `threshold` and `batches` are of activations")


class GroupLasso(Strict, frozen=True, kw_only=True, tag_field="method", tag="group_lasso"):
    """Drive heads and nodes to zero while retraining in full precision, then remove them.

    Source: Behnke et al. 2021, section 3.1. The penalty lambda * sum_g sqrt(weights in g) * ||g||_2 is added to the
    cross-entropy summed over a batch. Groups g are rows and columns; with granularity "heads", those of attention are
    the parts of each matrix that belong to a head.
    """

    matrices: Matrices  # Whole sub-layers, such as "encoder.self_attention".
    granularity: Literal["heads", "rows_and_columns"]  # Groups of an attention: its heads, or rows and columns.
    strength: PositiveFloat  # lambda: larger values remove more.
    dead_below: PositiveFloat = 1e-3  # A group whose weights have a smaller root mean square is removed.


class Magnitude(Strict, frozen=True, kw_only=True, tag_field="method", tag="magnitude"):
    """Set a growing share of each matrix to zero while retraining in full precision, the smallest weights first.

    Source: Cheong and Daniel 2019, sections 3.2 and 4.3.
    """

    matrices: Matrices  # Sub-layer types or patterns of names.
    from_share: Fraction  # Share of the weights that is zero from the start.
    to_share: Share  # Share of the weights that is zero at the end.
    steps: Positive = 9  # Number of steps from the first share to the second, of equal size.
    period: Positive  # Updates between steps.

    def __post_init__(self) -> None:
        if self.to_share < self.from_share:
            raise ValueError("to_share is less than from_share: zeroed weights stay zero")


Pruning = FeedForwardNodes | GroupLasso | Magnitude


def limit_pruning(pruning: Pruning, updates: int, most: int) -> Pruning:
    """Return an entry limited to `most` batches, or fitted into `most` in place of `updates` updates, for a trial.

    The updates that follow the last step keep their share.
    """
    if isinstance(pruning, Magnitude) and updates > most:
        steps = min(pruning.steps, most)
        return msgspec.structs.replace(pruning, steps=steps, period=max(1, pruning.period * most // updates))
    if isinstance(pruning, FeedForwardNodes) and pruning.criterion == "largest_activation":
        return msgspec.structs.replace(pruning, batches=min(pruning.batches or NODE_BATCHES, most))
    return pruning
