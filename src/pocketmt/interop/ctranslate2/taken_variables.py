"""The variables of a CTranslate2 model as they are taken, one by one: what is left over is refused."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import InteropError
from pocketmt.interop.ctranslate2.model_bin import Variable, Variables
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, Float32, ForeignTensor, Tensor

FLOATS: Final = ("float32", "float16", "bfloat16")


class TakenVariables:
    """Variables by name, and the names of those that were taken."""

    def __init__(self, path: Path, variables: Variables) -> None:
        """Take none of the variables of a file yet."""
        self._path = path
        self.found = dict(variables.found)
        self.taken: set[str] = set()

    def error(self, text: str) -> InteropError:
        """Return the error about the file."""
        return InteropError(f"{self._path}: {text}")

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a matrix; InteropError if there is none."""
        if name not in self.found or len(self.found[name].shape) != 2:
            raise self.error(f"has no matrix {name}")
        return self.found[name].shape

    def take_if_same(self, name: str, other: str) -> bool:
        """Take the second of two names if both stand for the same numbers; returns whether they do."""
        scale, other_scale = f"{name}_scale", f"{other}_scale"
        same = self._equal(name, other)
        # Equal codes with other scales are other numbers. An alias without scales has those of its codes.
        if same and self.found[name].type not in FLOATS and other_scale in self.found:
            same = self._equal(scale, other_scale)
        if same:
            self.taken |= {other, other_scale}
        return same

    def _equal(self, name: str, other: str) -> bool:
        """Return whether there are two variables of one type and shape with the same bits."""
        first, second = self.found.get(name), self.found.get(other)
        if first is None or second is None:
            return False
        return first is second or (
            (first.type, first.shape) == (second.type, second.shape) and first.data == second.data
        )

    def number(self, name: str, default: float) -> float:
        """Return a number, or the default if there is none."""
        if name not in self.found:
            return float(default)
        value = self.found[name]
        if value.shape not in ((), (1,)) or value.type == "bfloat16":
            raise self.error(f"variable {name} is {list(value.shape)}, expected a number")
        self.taken.add(name)
        return float(value.array().reshape(()))

    def text(self, name: str, default: str) -> str:
        """Return a text, which is stored as the bytes of its UTF-8, or the default if there is none."""
        if name not in self.found:
            return default
        value = self.found[name]
        if value.type != "int8" or len(value.shape) != 1:
            raise self.error(f"variable {name} is {value.type} {list(value.shape)}, expected a text")
        self.taken.add(name)
        try:
            return bytes(value.data).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(f"variable {name} is not UTF-8") from error

    def same(self, name: str, default: float, stacks: tuple[str, ...] = ("encoder", "decoder")) -> int:
        """Return a whole number that both stacks have, or the model in older files; InteropError if it is none."""
        whole = self.number(name, default)
        values = [self.number(f"{stack}/{name}", whole) for stack in stacks]
        if len(set(values)) != 1:
            raise self.error(f"{name} is {values[0]:g} in the encoder and {values[1]:g} in the decoder")
        if not values[0].is_integer():
            raise self.error(f"{name} is {values[0]:g}, expected a whole number")
        return int(values[0])

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return a parameter; InteropError if it is missing, of another shape or type."""
        if name not in self.found:
            raise self.error(f"has no variable {name}")
        variable = self.found[name]
        if variable.shape != shape:
            raise self.error(f"variable {name} is {list(variable.shape)}, others say {list(shape)}")
        self.taken.add(name)
        if variable.type in FLOATS:
            return ForeignTensor(shape, variable.blocks)
        if variable.type not in ("int8", "int16") or len(shape) != 2:
            raise self.error(f"variable {name} has the type {variable.type}, expected floats")
        multipliers = self.multipliers(f"{name}_scale", shape[0])
        if variable.type == "int8":
            return CodesTensor(shape, (CodedRows(shape[0], _scales(multipliers), partial(_codes, variable)),))
        return ForeignTensor(shape, partial(_divided, variable, multipliers))

    def multipliers(self, name: str, rows: int) -> Float32:
        """Return the numbers by which rows were multiplied, one or one a row; InteropError if they are none."""
        variable = self.found.get(name)
        if variable is None or variable.type not in FLOATS or variable.shape not in ((), (1,), (rows,)):
            raise self.error(f"has no numbers {name}, one or {rows}")
        self.taken.add(name)
        values = variable.floats().reshape(-1)
        if not (np.isfinite(values) & (values > 1e-37)).all():
            raise self.error(f"variable {name} holds a number that is not positive and finite")
        return values


def _divided(variable: Variable, multipliers: Float32) -> Iterator[Float32]:
    divisors = np.broadcast_to(multipliers, variable.shape[:1])
    start = 0
    for block in variable.blocks():
        yield block / divisors[start : start + len(block), None]
        start += len(block)


def _scales(multipliers: Float32) -> Float32:
    """Return 1 / multipliers: in bfloat16 if all are reciprocals of such numbers, as those that PocketMT writes."""
    exact = np.float32(1) / multipliers
    bits = exact.view(np.uint32).astype(np.uint64)
    halves = (((bits + 0x8000) >> 16) << 16).astype(np.uint32).view(np.float32)
    with np.errstate(divide="ignore", over="ignore"):
        return halves if np.array_equal(np.float32(1) / halves, multipliers) else exact


def _codes(variable: Variable) -> NDArray[np.int8]:
    return variable.array()
