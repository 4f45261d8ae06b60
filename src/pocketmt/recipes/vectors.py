"""Vectors of a network quantized as the rows of one matrix, a stack, while each stays a parameter of its own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pocketmt.recipes.description.schema import Retraining
from pocketmt.recipes.retraining.methods import Method, make_method
from pocketmt.recipes.row_groups import QuantizedMatrix, RowGroup


def stacked(parameters: Mapping[str, Tensor], groups: Sequence[RowGroup]) -> Tensor:
    """Return a stack's vectors as its rows, [vectors, length]."""
    return torch.stack([parameters[name].detach() for name in groups[0].vectors])


def by_parameter(name: str, groups: Sequence[RowGroup], weight: Tensor) -> dict[str, Tensor]:
    """Return a matrix by its name, or the rows of a stack by the names of its vectors."""
    vectors = groups[0].vectors
    return dict(zip(vectors, weight, strict=True)) if vectors else {name: weight}


def parameter_method(
    retraining: Retraining | None,
    name: str,
    groups: Sequence[RowGroup],
    parameters: Mapping[str, nn.Parameter],
    start: QuantizedMatrix | None,
) -> Method:
    """Return the method that retrains a matrix, or a stack of vectors, of a network with these parameters."""
    if not groups[0].vectors:
        return make_method(retraining, groups, parameters[name], start)
    vectors = [parameters[vector] for vector in groups[0].vectors]
    inner = make_method(retraining, groups, nn.Parameter(stacked(parameters, groups)), start)
    return StackMethod(inner, vectors)


class StackMethod(Method):
    """A method for matrices, carried out on a stack: what it does to the rows is done to the vectors.

    The optimizer moves the vectors, as it moves matrices; the stack holds what they hold.
    """

    def __init__(self, inner: Method, vectors: Sequence[nn.Parameter]) -> None:
        """Take a method made for the stack [vectors, length], and the network's parameters, each [length]."""
        super().__init__(inner.groups, inner.weight)
        self.inner = inner
        self.vectors = vectors
        self._scatter()

    def trained(self) -> list[nn.Parameter]:
        """Return what the optimizer moves beside the vectors."""
        return self.inner.trained()

    def before_forward(self) -> None:
        """Put the values for forward and backward pass into the vectors."""
        self._apply(self.inner.before_forward)

    def after_backward(self) -> None:
        """Undo `before_forward`, and make the gradients those of what the optimizer moves."""
        gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in self.vectors]
        self.weight.grad = torch.stack(gradients)
        self._apply(self.inner.after_backward)
        moved = self.weight.grad
        for index, vector in enumerate(self.vectors):
            vector.grad = None if moved is None else moved[index].clone()

    def after_step(self, update: int) -> None:
        """Do what follows an optimizer step."""
        self._apply(lambda: self.inner.after_step(update))

    def quantized(self) -> QuantizedMatrix:
        """Return codes and parameters of the stack as the vectors are now."""
        self._gather()
        return self.inner.quantized()

    def full_precision(self) -> Tensor:
        """Return the stack [vectors, length] that a later stage shall start from."""
        self._gather()
        return self.inner.full_precision()

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must hold beside the vectors and the optimizer."""
        return self.inner.state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Take what `state` returned."""
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
