"""How a quantized matrix is retrained: one class a method, each the state of one matrix in one stage.

Between updates a matrix's parameter in the network holds what the optimizer moves. The loop calls, in every update,

    before_forward()        the parameter takes the value that forward and backward pass shall see
    after_backward()        the parameter's gradient becomes that of what the optimizer moves
    after_step(update)      after the optimizer's step, with the stage's update, from 1
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.errors import ConfigurationError
from pocketmt.quantization import Parameters, Scheme
from pocketmt.quantization.affine import Affine
from pocketmt.quantization.fixed_point import FixedPoint
from pocketmt.quantization.uniform import HIGHEST_CODE, Uniform
from pocketmt.recipes.description.schema import ErrorFeedback, Periodic, Retraining, StraightThrough, TrainedParameters
from pocketmt.recipes.retraining.trained_values import (
    TRAINABLE,
    give_gradients,
    parameters_of_values,
    trained_values,
)
from pocketmt.recipes.row_groups import (
    QuantizedGroup,
    QuantizedMatrix,
    RowGroup,
    assign,
    decode,
    fit,
    moved,
    on_device,
    quantize,
)


class Method:
    """One matrix's retraining; by itself there is none: the matrix is as `start` has it, or quantized as it is."""

    def __init__(self, groups: Sequence[RowGroup], weight: nn.Parameter, start: QuantizedMatrix | None = None) -> None:
        """Take row groups, the network's parameter [rows, columns] in full precision, what an earlier stage made."""
        self.groups = groups
        self.weight = weight
        self.start = start

    def trained(self) -> list[nn.Parameter]:
        """Return what the optimizer moves beside the weight."""
        return []

    def before_forward(self) -> None:
        """Put the value for forward and backward pass into the parameter."""

    def after_backward(self) -> None:
        """Undo `before_forward`, and make the gradient that of what the optimizer moves."""

    def after_step(self, update: int) -> None:
        """Do what follows an optimizer step."""

    def quantized(self) -> QuantizedMatrix:
        """Return codes and parameters of the matrix as it is now, without changing it."""
        return self.start or quantize(self.groups, self.full_precision())

    def full_precision(self) -> Tensor:
        """Return the weight [rows, columns] that a later stage shall start from."""
        return self.weight.detach()

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must hold beside the parameter and the optimizer."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""


class StraightThroughMethod(Method):
    """Fake quantization: forward and backward see the quantized weight, its gradient moves the full-precision one.

    Under fixed parameters the gradient is zero where a weight is clamped ([Q1]); refitted ones follow the weights, and
    trained ones have gradients of their own.
    """

    def __init__(
        self, groups: Sequence[RowGroup], weight: nn.Parameter, settings: StraightThrough, start: QuantizedMatrix | None
    ) -> None:
        """Begin with the parameters of `start` (an earlier stage's), where they aren't refitted, else with a fit."""
        super().__init__(groups, weight)
        self.settings = settings
        self.updates = 0
        begun = None if start is None or settings.parameters == "refitted" else [group.parameters for group in start]
        self.parameters = begun or fit(groups, weight.detach())
        self.values = trained_values(groups, self.parameters) if settings.parameters == "trained" else None
        self._kept: Tensor | None = None
        self._current: QuantizedMatrix = []

    def trained(self) -> list[nn.Parameter]:
        """Return what each group's parameters are made of."""
        return self.values or []

    def before_forward(self) -> None:
        """Quantize."""
        shadow = self.weight.detach()
        if self.settings.parameters == "refitted" and self.updates % self.settings.refit_every == 0:
            self.parameters = fit(self.groups, shadow)
        self.updates += 1
        self._current = assign(self.groups, shadow, self._parameters())
        self._kept = shadow.clone()
        shadow.copy_(decode(self.groups, self._current))

    def after_backward(self) -> None:
        """Back to full precision; weights that are clamped get no gradient, and trained parameters theirs."""
        assert self._kept is not None
        self.weight.detach().copy_(self._kept)
        gradient = self.weight.grad
        if gradient is not None and self.values is not None:
            give_gradients(self.groups, self._current, self.values, gradient)
        if gradient is not None and self.settings.parameters == "fixed":
            gradient.masked_fill_(_clamped(self.groups, self._kept, self.parameters), 0.0)
        self._kept = None

    def quantized(self) -> QuantizedMatrix:
        """Codes under the parameters as they are now; refitted where they are refitted."""
        if self.settings.parameters == "refitted":
            return super().quantized()
        return assign(self.groups, self.weight.detach(), self._parameters())

    def _parameters(self) -> list[Parameters]:
        return self.parameters if self.values is None else parameters_of_values(self.groups, self.values)

    def state(self) -> dict[str, Any]:
        """Return parameters and how many updates they are old."""
        values = None if self.values is None else [each.detach() for each in self.values]
        return {"updates": self.updates, "parameters": self.parameters, "values": values}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""
        self.updates = state["updates"]
        self.parameters = [moved(each, self.weight.device) for each in state["parameters"]]
        for mine, theirs in zip(self.values or [], state["values"] or [], strict=True):
            mine.detach().copy_(theirs)


class TrainedParametersMethod(Method):
    """Codes stand still, parameters move: a centroid by the sum of its weights' gradients ([Z1], section 3.1.1)."""

    def __init__(self, groups: Sequence[RowGroup], weight: nn.Parameter, start: QuantizedMatrix | None) -> None:
        """Begin with `start` (an earlier stage's codes and parameters) or with a fit."""
        super().__init__(groups, weight)
        begun = start or quantize(groups, weight.detach())
        self.codes = [group.codes for group in begun]
        self.values = trained_values(groups, [group.parameters for group in begun])

    def trained(self) -> list[nn.Parameter]:
        """Return what each group's parameters are made of."""
        return self.values

    def before_forward(self) -> None:
        """Put what the codes stand for in the weights' places."""
        self.weight.detach().copy_(self.full_precision())

    def after_backward(self) -> None:
        """Give the trained parameters their gradients; the weights themselves are not moved."""
        if self.weight.grad is not None:
            give_gradients(self.groups, self.quantized(), self.values, self.weight.grad)
            self.weight.grad = None

    def quantized(self) -> QuantizedMatrix:
        """Return the standing codes with the parameters as the file holds them."""
        parameters = parameters_of_values(self.groups, self.values)
        return [QuantizedGroup(codes, each) for codes, each in zip(self.codes, parameters, strict=True)]

    def full_precision(self) -> Tensor:
        """Return the weights that the codes stand for."""
        return decode(self.groups, self.quantized())

    def state(self) -> dict[str, Any]:
        """Return codes and trained parameters."""
        return {"codes": self.codes, "values": [each.detach() for each in self.values]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""
        self.codes = [codes.to(self.weight.device) for codes in state["codes"]]
        for mine, theirs in zip(self.values, state["values"], strict=True):
            mine.detach().copy_(theirs)


class RequantizationMethod(Method):
    """The weight itself is replaced by what it is quantized to, at the start and after every `period` updates.

    With feedback, what quantization took away is added before the next one ([L3]); without, the weight is trained in
    full precision in between ([B4], non-regularization period).
    """

    def __init__(
        self,
        groups: Sequence[RowGroup],
        weight: nn.Parameter,
        settings: ErrorFeedback | Periodic,
        start: QuantizedMatrix | None = None,
    ) -> None:
        """Begin with `start`, an earlier stage's codes, or quantize at once.

        What is quantized already is not quantized again: greedy binary codes of greedy binary codes shrink.
        """
        super().__init__(groups, weight)
        self.period = settings.period
        self.refit_every = settings.refit_every
        self.quantizations = 0
        begun = start if start is not None and not self.refit_every else []
        self.parameters: list[Parameters] = [group.parameters for group in begun]
        self.residual = torch.zeros_like(weight.detach()) if isinstance(settings, ErrorFeedback) else None
        # Codes and parameters of the weight, where it was not moved since.
        self._current: QuantizedMatrix | None = None
        if start is None:
            self._requantize()
        else:
            self._take(weight.detach().clone(), start)

    def after_step(self, update: int) -> None:
        """Quantize where it is time."""
        self._current = None
        if update % self.period == 0:
            self._requantize()

    def _requantize(self) -> None:
        wanted = self.full_precision()
        if not self.parameters or (self.refit_every and self.quantizations % self.refit_every == 0):
            self.parameters = fit(self.groups, wanted)
        self.quantizations += 1
        self._take(wanted, assign(self.groups, wanted, self.parameters))

    def _take(self, wanted: Tensor, quantized: QuantizedMatrix) -> None:
        """Replace the weight that is wanted by what stands for it, and keep the difference."""
        self._current = quantized
        weight = decode(self.groups, quantized)
        if self.residual is not None:
            self.residual = wanted - weight
        self.weight.detach().copy_(weight)

    def quantized(self) -> QuantizedMatrix:
        """Return what the weight was quantized to, or would be now."""
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
        """Take what `state` returned."""
        device = self.weight.device
        self.residual = None if state["residual"] is None else state["residual"].to(device)
        self.parameters = [moved(each, device) for each in state["parameters"]]
        self.quantizations = state["quantizations"]
        current = state["current"]
        self._current = None if current is None else on_device([QuantizedGroup(*group) for group in current], device)


def make_method(
    retraining: Retraining | None,
    groups: Sequence[RowGroup],
    weight: nn.Parameter,
    start: QuantizedMatrix | None = None,
) -> Method:
    """Return the method of one matrix; `start`: codes and parameters with which an earlier stage left it."""
    start = None if start is None else on_device(start, weight.device)
    if isinstance(retraining, StraightThrough):
        return StraightThroughMethod(groups, weight, retraining, start)
    if isinstance(retraining, TrainedParameters):
        return TrainedParametersMethod(groups, weight, start)
    if isinstance(retraining, ErrorFeedback | Periodic):
        return RequantizationMethod(groups, weight, retraining, start)
    return Method(groups, weight, start)


def check_scheme(retraining: Retraining, scheme: Scheme, where: str) -> None:
    """Raise ConfigurationError, naming `where`, where a method cannot retrain what a scheme quantizes."""
    trains = isinstance(retraining, TrainedParameters) or (
        isinstance(retraining, StraightThrough) and retraining.parameters == "trained"
    )
    if trains and not isinstance(scheme, TRAINABLE):
        raise ConfigurationError(
            f"{where}: the scheme {scheme.name} has no parameters to train: choose codebook, binary or "
            "binarization_flexible, or another method"
        )


def _clamped(groups: Sequence[RowGroup], weight: Tensor, parameters: Sequence[Parameters]) -> Tensor:
    """Return where a weight [rows, columns] is outside the range of evenly spaced codes."""
    clamped = torch.zeros_like(weight, dtype=torch.bool)
    for group, each in zip(groups, parameters, strict=True):
        if isinstance(group.scheme, Affine):
            low = each["minimum"][:, None]
            high = low + each["scale"][:, None] * (2**group.scheme.bits - 1)
        elif isinstance(group.scheme, Uniform):
            high = each["scale"][:, None] * HIGHEST_CODE
            low = -high
        elif isinstance(group.scheme, FixedPoint):
            low, high = each["levels"][0] * each["scale"], each["levels"][-1] * each["scale"]
        else:
            continue
        rows = slice(None) if group.rows is None else list(group.rows)
        part = group.of(weight)
        clamped[rows] = (part < low) | (part > high)
    return clamped
