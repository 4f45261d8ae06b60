"""Training of vectors that are quantized together as the rows of one matrix; each stays a parameter of the network."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.compression.retraining.trainer import MatrixTrainer
from pocketmt.quantization.row_groups import QuantizedMatrix


class GroupedVectorsTrainer(MatrixTrainer):
    """Applies the trainer of a matrix to grouped vectors: each change of a row is made to its vector.

    The optimizer moves the vectors, as it moves matrices. The matrix is a copy of them.
    """

    def __init__(self, inner: MatrixTrainer, vectors: Sequence[nn.Parameter]) -> None:
        """Take a trainer of the matrix [vectors, length] and the network's parameters, each [length]."""
        super().__init__(inner.groups, inner.weight)
        self.inner = inner
        self.vectors = vectors
        self._scatter()

    def learnable_parameters(self) -> list[nn.Parameter]:
        """Return what the optimizer moves in addition to the vectors."""
        return self.inner.learnable_parameters()

    def before_forward(self, update: int) -> None:
        """Put the values for forward and backward pass into the vectors."""
        self._apply(lambda: self.inner.before_forward(update))

    def after_backward(self) -> None:
        """Undo `before_forward`, and replace the gradients by those of the values that the optimizer moves."""
        gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in self.vectors]
        self.weight.grad = torch.stack(gradients)
        self._apply(self.inner.after_backward)
        moved = self.weight.grad
        for index, vector in enumerate(self.vectors):
            vector.grad = None if moved is None else moved[index].clone()

    def after_step(self, update: int) -> None:
        """Act on the result of an optimizer step."""
        self._apply(lambda: self.inner.after_step(update))

    def quantized(self) -> QuantizedMatrix:
        """Return codes and parameters of the current vectors."""
        self._gather()
        return self.inner.quantized()

    def full_precision(self) -> Tensor:
        """Return the vectors from which a later stage starts, [vectors, length]."""
        self._gather()
        return self.inner.full_precision()

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must hold in addition to the network and the optimizer."""
        return self.inner.state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.inner.load_state(state)

    def _apply(self, act: Callable[[], None]) -> None:
        self._gather()
        act()
        self._scatter()

    def _gather(self) -> None:
        self.weight.detach().copy_(torch.stack([vector.detach() for vector in self.vectors]))

    def _scatter(self) -> None:
        for vector, row in zip(self.vectors, self.weight.detach(), strict=True):
            vector.detach().copy_(row)
