"""Straight-through training: the network computes with quantized weights, and the optimizer moves the full ones."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from pocketmt.compression.retraining.learnable_parameters import backpropagate, learnable_parameters, parameters_from
from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.quantization import Parameters
from pocketmt.quantization.row_groups import QuantizedMatrix, RowGroup, assign, clamped, fake_quantize, fit, moved
from pocketmt.recipes.schema import StraightThrough


class StraightThroughTrainer(MatrixTrainer):
    """Fake quantization: the gradient of the quantized weight moves the full-precision weight.

    Parameters of the scheme are refitted to the weight, trained by their own gradients, or fixed. With fixed ones the
    gradient is zero for clamped weights (Prato et al. 2020, section 3.1).
    """

    def __init__(
        self, groups: Sequence[RowGroup], weight: nn.Parameter, settings: StraightThrough, start: QuantizedMatrix | None
    ) -> None:
        """Start from the parameters in `start`, unless they are refitted or there are none; then fit them."""
        super().__init__(groups, weight)
        self.settings = settings
        self.updates = 0
        begun = None if start is None or settings.parameters == "refitted" else [group.parameters for group in start]
        self.parameters = begun or fit(groups, weight.detach())
        self.learnable = learnable_parameters(groups, self.parameters) if settings.parameters == "trained" else None
        self._kept: Tensor | None = None
        self._current: QuantizedMatrix = []

    def learnable_parameters(self) -> list[nn.Parameter]:
        """Return the learnable parameters of each group's scheme, if they are trained."""
        return self.learnable or []

    def before_forward(self, update: int) -> None:
        """Quantize the weight."""
        shadow = self.weight.detach()
        refits = self.settings.parameters == "refitted" and self.updates % self.settings.refit_every == 0
        self._current, weight = fake_quantize(self.groups, shadow, [] if refits else self._parameters())
        if refits:
            self.parameters = [group.parameters for group in self._current]
        self.updates += 1
        self._kept = shadow.clone()
        shadow.copy_(weight)

    def after_backward(self) -> None:
        """Restore the full-precision weight, and set the gradients of both."""
        assert self._kept is not None
        self.weight.detach().copy_(self._kept)
        gradient = self.weight.grad
        if gradient is not None and self.learnable is not None:
            backpropagate(self.groups, self._current, self.learnable, gradient)
        if gradient is not None and self.settings.parameters == "fixed":
            gradient.masked_fill_(clamped(self.groups, self._kept, self.parameters), 0.0)
        self._kept = None

    def quantized(self) -> QuantizedMatrix:
        """Return codes under the current parameters, or under new ones if they are refitted."""
        if self.settings.parameters == "refitted":
            return super().quantized()
        return assign(self.groups, self.weight.detach(), self._parameters())

    def _parameters(self) -> list[Parameters]:
        return self.parameters if self.learnable is None else parameters_from(self.groups, self.learnable)

    def state(self) -> dict[str, Any]:
        """Return the parameters and the number of updates so far."""
        values = None if self.learnable is None else [each.detach() for each in self.learnable]
        return {"updates": self.updates, "parameters": self.parameters, "values": values}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.updates = state["updates"]
        self.parameters = [moved(each, self.weight.device) for each in state["parameters"]]
        for mine, theirs in zip(self.learnable or [], state["values"] or [], strict=True):
            mine.detach().copy_(theirs)
