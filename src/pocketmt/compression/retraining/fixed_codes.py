"""Training of a scheme's parameters while the codes are fixed."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from pocketmt.compression.retraining.learnable_parameters import backpropagate, learnable_parameters, parameters_from
from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.quantization.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, decode, quantize


class FixedCodesTrainer(MatrixTrainer):
    """Codes are fixed; the optimizer moves learnable parameters (Cheong and Daniel 2019, section 3.1.1)."""

    def __init__(self, groups: Sequence[RowGroup], weight: nn.Parameter, start: QuantizedMatrix | None) -> None:
        """Start from the codes and parameters in `start`, or fit them."""
        super().__init__(groups, weight)
        begun = start or quantize(groups, weight.detach())
        self.codes = [group.codes for group in begun]
        self.learnable = learnable_parameters(groups, [group.parameters for group in begun])

    def learnable_parameters(self) -> list[nn.Parameter]:
        """Return the learnable parameters of each group's scheme."""
        return self.learnable

    def before_forward(self, update: int) -> None:
        """Put the decoded weight into the parameter."""
        self.weight.detach().copy_(self.full_precision())

    def after_backward(self) -> None:
        """Set the gradients of the learnable parameters; the weight has none."""
        if self.weight.grad is not None:
            backpropagate(self.groups, self.quantized(), self.learnable, self.weight.grad)
            self.weight.grad = None

    def quantized(self) -> QuantizedMatrix:
        """Return the codes with the current parameters, rounded as the file holds them."""
        parameters = parameters_from(self.groups, self.learnable)
        return [QuantizedGroup(codes, each) for codes, each in zip(self.codes, parameters, strict=True)]

    def full_precision(self) -> Tensor:
        """Return the decoded weight."""
        return decode(self.groups, self.quantized())

    def state(self) -> dict[str, Any]:
        """Return codes and learnable parameters."""
        return {"codes": self.codes, "values": [each.detach() for each in self.learnable]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.codes = [codes.to(self.weight.device) for codes in state["codes"]]
        for mine, theirs in zip(self.learnable, state["values"], strict=True):
            mine.detach().copy_(theirs)
