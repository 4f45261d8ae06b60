"""A reader of pickled state dicts that calls nothing: it knows the instructions that dictionaries of tensors need.

Python's unpickler calls whatever a file names. This one has no way to call, import or set anything: the few names that
`torch.save` writes for a state dict stand for values of this module, and every other name or instruction is refused.
"""

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from pocketmt.errors import InteropError

MOST_INSTRUCTIONS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a Python module, which is never imported."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Storage:
    """Numbers of a checkpoint: name of the type, such as "FloatStorage", key, and how many there are."""

    type: str
    key: str
    elements: int


@dataclass(frozen=True, slots=True)
class PickledTensor:
    """A tensor of a storage: offset in elements, shape and strides, all unchecked."""

    storage: Storage
    offset: object
    shape: object
    strides: object


_MARK: Final = object()
_DICTIONARY: Final = Name("collections", "OrderedDict")
_TENSOR: Final = Name("torch._utils", "_rebuild_tensor_v2")
_PARAMETER: Final = Name("torch._utils", "_rebuild_parameter")


def read_pickle(stream: BinaryIO) -> Any:
    """Return the object of one pickle: dictionaries, lists, numbers, strings, `PickledTensor`.

    Raises InteropError if the pickle is damaged, or has anything that a state dict does not need.
    """
    machine = _Machine()
    try:
        for count, (instruction, argument, _) in enumerate(pickletools.genops(stream)):
            if count == MOST_INSTRUCTIONS:
                raise InteropError(f"the pickle has more than {MOST_INSTRUCTIONS:,} instructions")
            if instruction.name == "STOP":
                return machine.pop()
            machine.run(instruction.name, argument)
    except (ValueError, OverflowError, IndexError, KeyError, TypeError) as error:
        raise InteropError(f"the pickle is damaged ({str(error)[:120]})") from error
    raise InteropError("the pickle is cut off")


class _Machine:
    """The stack and the memory of a pickle."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memory: dict[int, Any] = {}

    def run(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _ARGUMENTS:
            self._stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self._memory[len(self._memory) if name == "MEMOIZE" else argument] = self._stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self._stack.append(self._memory[argument])
        elif name in _INSTRUCTIONS:
            _INSTRUCTIONS[name](self, argument)
        elif name not in ("PROTO", "FRAME"):
            raise InteropError(f"the pickle has the instruction {name}, which no dictionary of tensors needs")

    def pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("a value is missing")
        return value

    def _since_mark(self) -> list[Any]:
        values: list[Any] = []
        while (value := self._stack.pop()) is not _MARK:
            values.append(value)
        return values[::-1]

    def empty(self, kind: type) -> None:
        self._stack.append(kind())

    def tuple_of(self, count: int | None) -> None:
        values = self._since_mark() if count is None else [self.pop() for _ in range(count)][::-1]
        self._stack.append(tuple(values))

    def append(self, values: list[Any]) -> None:
        top = self._stack[-1]
        if not isinstance(top, list):
            raise ValueError("items for what is no list")
        top.extend(values)

    def set_items(self, values: list[Any]) -> None:
        top = self._stack[-1]
        if not isinstance(top, dict) or len(values) % 2:
            raise ValueError("items for what is no dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            # Nothing else: the hash of nested tuples may take for ever.
            if not isinstance(key, str | int):
                raise ValueError("a key that is no string")
            top[key] = value

    def name(self, text: str) -> None:
        module, _, name = text.partition(" ")
        self._stack.append(Name(module, name))

    def stacked_name(self) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("a name that is no string")
        self._stack.append(Name(module, name))

    def persistent(self) -> None:
        """Push a storage: ("storage", type, key, device, elements), in old files with a sixth item."""
        value = self.pop()
        if not isinstance(value, tuple) or len(value) not in (5, 6) or value[0] != "storage":
            raise ValueError("a storage of another form")
        kind, key, elements = value[1], value[2], value[4]
        if not isinstance(kind, Name) or not isinstance(key, str) or type(elements) is not int:
            raise ValueError("a storage of another form")
        if len(value) == 6 and value[5] is not None:
            raise InteropError("a storage is a view of another one: save the model again with a newer PyTorch")
        self._stack.append(Storage(kind.name if kind.module == "torch" else "", key, elements))

    def call(self) -> None:
        """Push the value that a known name and its arguments stand for."""
        arguments, name = self.pop(), self.pop()
        if not isinstance(name, Name) or not isinstance(arguments, tuple):
            raise ValueError("a call of what is no name")
        if name == _DICTIONARY and not arguments:
            self._stack.append({})
        elif name == _TENSOR and len(arguments) >= 4 and isinstance(arguments[0], Storage):
            self._stack.append(PickledTensor(*arguments[:4]))
        elif name == _PARAMETER and arguments and isinstance(arguments[0], PickledTensor):
            self._stack.append(arguments[0])
        else:
            raise InteropError(
                f"the pickle calls {f'{name.module}.{name.name}'!r:.120}, which is not run: a file of weights needs "
                "only tensors. Do not trust it, or save its weights alone as safetensors"
            )

    def build(self) -> None:
        """Leave out what PyTorch adds to a state dict: the versions of its modules."""
        self.pop()
        if not isinstance(self._stack[-1], dict):
            raise InteropError("the pickle sets the state of an object: a file of weights needs only tensors")


_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": _MARK}
_ARGUMENTS: Final = {
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "SHORT_BINSTRING", "BINSTRING"),
}
_INSTRUCTIONS: Final[Mapping[str, Callable[[_Machine, Any], None]]] = {
    "EMPTY_DICT": lambda machine, _: machine.empty(dict),
    "EMPTY_LIST": lambda machine, _: machine.empty(list),
    "EMPTY_TUPLE": lambda machine, _: machine.empty(tuple),
    "TUPLE": lambda machine, _: machine.tuple_of(None),
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "APPEND": lambda machine, _: machine.append([machine.pop()]),
    "APPENDS": lambda machine, _: machine.append(machine._since_mark()),
    "SETITEM": lambda machine, _: machine.set_items([machine.pop(), machine.pop()][::-1]),
    "SETITEMS": lambda machine, _: machine.set_items(machine._since_mark()),
    "GLOBAL": lambda machine, argument: machine.name(argument),
    "STACK_GLOBAL": lambda machine, _: machine.stacked_name(),
    "BINPERSID": lambda machine, _: machine.persistent(),
    "REDUCE": lambda machine, _: machine.call(),
    "BUILD": lambda machine, _: machine.build(),
}
