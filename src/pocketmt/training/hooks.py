"""Hooks of the training loop, by which quantization and pruning act around each update."""

from typing import Any

from torch import Tensor, nn


class Hook:
    """Base class of hooks: its methods do nothing. `TrainingLoop` calls the first four at every update, in this order.

    Attributes:
        enabled: whether the methods are called, except `penalty`, which always is.
    """

    enabled: bool = True

    def before_forward(self, update: int) -> None:
        """Prepare the network for the forward and the backward pass of an update, counted from 1."""

    def penalty(self) -> Tensor | None:
        """Return a scalar to add to the loss, which is summed over the batch's target tokens, in nats; None for 0."""
        return None

    def after_backward(self) -> None:
        """Undo `before_forward`, or change gradients, before the optimizer's step."""

    def after_step(self, update: int) -> None:
        """Act on the parameters after the optimizer's step. Hooks are called in reverse order."""

    def learnable_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that the optimizer updates in addition to the network's."""
        return []

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, which also holds the network's parameters and the optimizer's state."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
