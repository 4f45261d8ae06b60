"""Error feedback and periodic quantization: the optimizer moves the weight, which is quantized again periodically."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.quantization import Parameters
from pocketmt.quantization.row_groups import (
    QuantizedGroup,
    QuantizedMatrix,
    RowGroup,
    assign,
    decode,
    fake_quantize,
    moved,
    on_device,
)
from pocketmt.recipes.schema import ErrorFeedback, Periodic


class RequantizationTrainer(MatrixTrainer):
    """Replaces the weight by its quantized value at the start and after every `period` updates.

    With error feedback the quantization error is added before the next quantization (Aji and Heafield 2020, section
    3.3). Without it, the weight is trained in full precision between two quantizations (Chung et al. 2020, section
    4.1).
    """

    def __init__(
        self,
        groups: Sequence[RowGroup],
        weight: nn.Parameter,
        settings: ErrorFeedback | Periodic,
        start: QuantizedMatrix | None = None,
    ) -> None:
        """Start from the codes in `start`, or quantize.

        Codes from an earlier stage are not quantized again, as greedy binary codes of decoded greedy codes shrink.
        """
        super().__init__(groups, weight)
        self.period = settings.period
        self.refit_every = settings.refit_every
        self.quantizations = 0
        begun = start if start is not None and not self.refit_every else []
        self.parameters: list[Parameters] = [group.parameters for group in begun]
        self.residual = torch.zeros_like(weight.detach()) if isinstance(settings, ErrorFeedback) else None
        # Codes and parameters of the weight; None after an update.
        self._current: QuantizedMatrix | None = None
        self._requantize(start)

    def after_step(self, update: int) -> None:
        """Quantize after every `period` updates."""
        self._current = None
        if update % self.period == 0:
            self._requantize()

    def _requantize(self, start: QuantizedMatrix | None = None) -> None:
        """Replace the weight by its quantized value, or by that of `start`, and keep the difference."""
        if start is not None:
            wanted, weight = self.weight.detach().clone(), decode(self.groups, start)
            self._current = start
        else:
            wanted = self.full_precision()
            refits = self.refit_every and self.quantizations % self.refit_every == 0
            self._current, weight = fake_quantize(self.groups, wanted, [] if refits else self.parameters)
            self.parameters = [group.parameters for group in self._current]
            self.quantizations += 1
        if self.residual is not None:
            self.residual = wanted - weight
        self.weight.detach().copy_(weight)

    def quantized(self) -> QuantizedMatrix:
        """Return the codes of the weight; after an update, those that quantization would give now."""
        if self._current is None and not self.refit_every:
            return assign(self.groups, self.full_precision(), self.parameters)
        return self._current or super().quantized()

    def full_precision(self) -> Tensor:
        """Return the weight with its residual."""
        return self.weight.detach().clone() if self.residual is None else self.weight.detach() + self.residual

    def state(self) -> dict[str, Any]:
        """Return residual, codes and parameters."""
        current = None if self._current is None else [(group.codes, group.parameters) for group in self._current]
        return {
            "residual": self.residual,
            "current": current,
            "parameters": self.parameters,
            "quantizations": self.quantizations,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        device = self.weight.device
        self.residual = None if state["residual"] is None else state["residual"].to(device)
        self.parameters = [moved(each, device) for each in state["parameters"]]
        self.quantizations = state["quantizations"]
        current = state["current"]
        self._current = None if current is None else on_device([QuantizedGroup(*group) for group in current], device)
