"""The file `model.bin` of CTranslate2, versions 1 to 6: named variables, mapped and checked, and aliases."""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import InteropError
from pocketmt.interop.file_content import mapped
from pocketmt.interop.foreign_tensor import Float32, block_rows
from pocketmt.model_file.container.mapped_pages import release_pages

SPECIFICATION: Final = "TransformerSpec"
REVISION: Final = 7  # of the names of variables
VERSION: Final = 6
MOST_VARIABLES: Final = 1 << 16
MOST_DIMENSIONS: Final = 4
_LONGEST_NAME: Final = 1 << 10
# By the number of a type, from version 4 on; bfloat16 is read as the upper half of float32.
_TYPES: Final = (
    ("float32", "<f4"),
    ("int8", "i1"),
    ("int16", "<i2"),
    ("int32", "<i4"),
    ("float16", "<f2"),
    ("bfloat16", "<u2"),
)
_NUMBERS: Final = {name: number for number, (name, _) in enumerate(_TYPES)}
_ELEMENTS: Final = dict(_TYPES)
_OF_SIZE: Final = {4: "float32", 2: "int16", 1: "int8"}  # before version 4


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: name of its type, shape (none: a number) and little-endian data, with its place in the file."""

    type: str
    shape: tuple[int, ...]
    data: memoryview | bytes
    offset: int = 0

    def array(self) -> NDArray[Any]:
        """Return the numbers as stored; those of bfloat16 are bits."""
        return np.frombuffer(self.data, _ELEMENTS[self.type]).reshape(self.shape)

    def floats(self) -> Float32:
        """Return the numbers of a variable of floats as float32."""
        return self._as_float32(self.array())

    def blocks(self) -> Iterator[Float32]:
        """Yield consecutive rows (elements of a vector) as float32; memory keeps none that was yielded before."""
        stored = self.array()
        rows = block_rows(self.shape)
        for start in range(0, len(stored), rows):
            block = stored[start : start + rows]
            yield self._as_float32(block)
            if isinstance(self.data, memoryview):
                release_pages(self.data, self.offset + start * stored.strides[0], block.nbytes)

    def _as_float32(self, stored: NDArray[Any]) -> Float32:
        if self.type == "bfloat16":
            return (stored.astype(np.uint32) << 16).view(np.float32)
        return stored.astype(np.float32, copy=False)


@dataclass(frozen=True, slots=True)
class Variables:
    """The content of a file: its version, name and revision of the specification, variables by name, aliases too."""

    version: int
    specification: str
    revision: int
    found: Mapping[str, Variable]
    aliases: Mapping[str, str]


def read_model_bin(path: Path) -> Variables:
    """Map a file and return its variables; it stays mapped while one of them is used.

    Raises InteropError if the file cannot be read, or its sizes, types and aliases do not fit together.
    """
    content = mapped(path)
    try:
        return _Reader(content).variables()
    except InteropError as error:
        raise InteropError(f"{path}: {error}") from error


class _Reader:
    def __init__(self, content: memoryview) -> None:
        self._content = content
        self._position = 0

    def variables(self) -> Variables:
        version = self._number("<I")
        if not 1 <= version <= VERSION:
            raise InteropError(
                f"has the version {version}, known are 1 to {VERSION}: not a model of CTranslate2, or newer"
            )
        specification, revision = (self._text(), self._number("<I")) if version >= 2 else ("", 1)
        found: dict[str, Variable] = {}
        for _ in range(self._count()):
            name = self._text()
            if name in found:
                raise InteropError(f"holds the variable {name!r:.120} twice: the file is damaged")
            found[name] = self._variable(name, version)
        aliases: dict[str, str] = {}
        for _ in range(self._count() if version >= 3 else 0):
            alias, name = self._text(), self._text()
            if alias in found or name not in found:
                raise InteropError(f"has the alias {alias!r:.120} of {name!r:.120}: the file is damaged")
            aliases[alias] = name
        if self._position != len(self._content):
            raise InteropError(f"has {len(self._content) - self._position} bytes after its end: the file is damaged")
        named = found | {each: found[name] for each, name in aliases.items()}
        return Variables(version, specification, revision, named, aliases)

    def _variable(self, name: str, version: int) -> Variable:
        dimensions = self._number("<B")
        if dimensions > MOST_DIMENSIONS:
            raise InteropError(f"variable {name!r:.120} has {dimensions} dimensions: the file is damaged")
        shape = tuple(self._number("<I") for _ in range(dimensions))
        number = self._number("<B")
        kinds = dict(enumerate(_ELEMENTS)) if version >= 4 else _OF_SIZE
        kind = kinds.get(number, "")
        if not kind:
            raise InteropError(f"variable {name!r:.120} has the unknown type {number}: the file is damaged, or newer")
        size = math.prod(shape) * np.dtype(_ELEMENTS[kind]).itemsize
        stated = self._number("<I") * (1 if version >= 4 else number)
        if stated != size:
            raise InteropError(
                f"variable {name!r:.120} of {kind} {list(shape)} states {stated} bytes: the file is damaged"
            )
        return Variable(kind, shape, self._bytes(size), self._position - size)

    def _bytes(self, size: int) -> memoryview:
        if size > len(self._content) - self._position:
            raise InteropError(f"ends at byte {len(self._content)}: it is cut off or damaged, copy it again")
        found = self._content[self._position : self._position + size]
        self._position += size
        return found

    def _number(self, form: str) -> int:
        value: int = struct.unpack(form, self._bytes(struct.calcsize(form)))[0]
        return value

    def _count(self) -> int:
        count = self._number("<I")
        if count > MOST_VARIABLES:
            raise InteropError(f"claims {count} variables: the file is damaged")
        return count

    def _text(self) -> str:
        raw = bytes(self._bytes(self._number("<H")))
        if not 1 < len(raw) <= _LONGEST_NAME or raw[-1] or not raw[:-1].isascii():
            raise InteropError(f"has a name that is none, {raw!r:.60}: the file is damaged")
        return raw[:-1].decode("ascii")


def variable(values: NDArray[Any]) -> Variable:
    """Return an array of float32, int8, int16 or int32 as a variable."""
    return Variable(values.dtype.name, values.shape, np.ascontiguousarray(values).tobytes())


def write_model_bin(file: BinaryIO, variables: Iterable[tuple[str, Variable]], aliases: Mapping[str, str]) -> None:
    """Write variables in the order of their names, one after the other, and aliases."""
    file.write(struct.pack("<I", VERSION) + _packed(SPECIFICATION) + struct.pack("<I", REVISION))
    place = file.tell()
    file.write(struct.pack("<I", 0))
    count = 0
    for name, each in variables:
        file.write(_packed(name) + struct.pack(f"<B{len(each.shape)}I", len(each.shape), *each.shape))
        file.write(struct.pack("<BI", _NUMBERS[each.type], len(each.data)))
        file.write(each.data)
        count += 1
    file.write(struct.pack("<I", len(aliases)))
    for alias, name in sorted(aliases.items()):
        file.write(_packed(alias) + _packed(name))
    file.seek(place)
    file.write(struct.pack("<I", count))


def _packed(text: str) -> bytes:
    raw = text.encode("ascii") + b"\0"
    return struct.pack("<H", len(raw)) + raw
