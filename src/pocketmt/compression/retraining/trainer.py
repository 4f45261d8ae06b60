"""The contract of a trainer: the quantization-aware training of one matrix in one stage.

Between updates the matrix's parameter in the network holds the value that the optimizer moves. In every update the
training loop calls

    before_forward(update)  the parameter takes the value for forward and backward pass
    after_backward()        the parameter gets the value and the gradient for the optimizer
    after_step(update)      after the optimizer's step, with the stage's update, from 1
"""

from collections.abc import Sequence

from torch import Tensor, nn

from pocketmt.quantization.row_groups import QuantizedMatrix, RowGroup, quantize
from pocketmt.training.hooks import Hook


class MatrixTrainer(Hook):
    """Trains one matrix. The base class does not retrain it: the matrix keeps its codes, or is quantized as it is."""

    def __init__(self, groups: Sequence[RowGroup], weight: nn.Parameter, start: QuantizedMatrix | None = None) -> None:
        """Create the trainer of a matrix.

        Args:
            groups: its row groups.
            weight: its parameter in the network, [rows, columns], in full precision.
            start: codes and parameters from an earlier stage.
        """
        self.groups = groups
        self.weight = weight
        self.start = start

    def quantized(self) -> QuantizedMatrix:
        """Return the current codes and parameters of the matrix, without changing it."""
        return self.start or quantize(self.groups, self.full_precision())

    def full_precision(self) -> Tensor:
        """Return the weight [rows, columns] from which a later stage starts."""
        return self.weight.detach()
