"""The container of bergamot's models (Marian's common/binary.cpp): named items, mapped into memory and checked."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import InteropError
from pocketmt.interop.file_content import mapped
from pocketmt.interop.foreign_tensor import Float32
from pocketmt.interop.marian.settings import MODEL_YML

VERSION: Final = 1
ALIGNMENT: Final = 256
MOST_ITEMS: Final = 1 << 14
LONGEST_NAME: Final = 512
MOST_DIMENSIONS: Final = 4
LARGEST_EXTENT: Final = 1 << 28
FLOAT32, INT8, INTGEMM8 = 0x0404, 0x0101, 0x4101
_ENTRY: Final = struct.Struct("<QQQQ")
_NUMBER: Final = struct.Struct("<Q")
_MULTIPLIER: Final = struct.Struct("<f")
_REFUSED: Final = {
    0x0402: "float16",
    0x0104: "int32",
    0x0204: "uint32",
    0x4102: "intgemm16",
    0x0802: "packed16 (FBGEMM)",
    0x1801: "packed8avx2 (FBGEMM)",
    0x2801: "packed8avx512 (FBGEMM)",
}


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a file.

    Attributes:
        name: of the parameter.
        type: FLOAT32, INT8 (the settings) or INTGEMM8.
        shape: as Marian has it: a matrix is [inputs, outputs], a vector [1, n].
        data: the item's bytes, which may be more than its numbers.
    """

    name: str
    type: int
    shape: tuple[int, ...]
    data: memoryview | bytes

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def floats(self) -> Float32:
        """Return the elements of a FLOAT32 item."""
        return np.frombuffer(self.data, "<f4", self.size).reshape(self.shape)

    def codes(self) -> NDArray[np.int8]:
        """Return the codes of an INTGEMM8 item in the order of the file, int8 [elements]."""
        return np.frombuffer(self.data, np.int8, self.size)

    def multiplier(self) -> float:
        """Return the number by which an INTGEMM8 item's weights were multiplied."""
        value: float = _MULTIPLIER.unpack_from(self.data, self.size)[0]
        return value


def is_container(path: Path) -> bool:
    """Return whether a file begins as a model of bergamot does."""
    try:
        with path.open("rb") as file:
            start = file.read(16 + _ENTRY.size)
    except OSError:
        return False
    if len(start) < 16 + _ENTRY.size:
        return False
    version, items = struct.unpack_from("<QQ", start)
    length, _, dimensions, _ = _ENTRY.unpack_from(start, 16)
    return bool(version == VERSION and 1 <= items <= MOST_ITEMS and 2 <= length <= LONGEST_NAME and dimensions <= 4)


def read_container(path: Path) -> dict[str, Item]:
    """Map a file, and return its items by name; the file stays mapped while one of them is used.

    Raises InteropError if the file cannot be read, its header does not fit it, or an item has a type that is refused.
    """
    content = mapped(path)
    try:
        return _Reader(content).items()
    except InteropError as error:
        raise InteropError(f"{path}: {error}") from error


class _Reader:
    """The header of a file, read from its start."""

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self._position = 0

    def items(self) -> dict[str, Item]:
        version, count = self._numbers(_NUMBER), self._numbers(_NUMBER)
        if version != (VERSION,):
            raise InteropError(f"has the version {version[0]}, only {VERSION} is known: not a model of bergamot")
        if not 1 <= count[0] <= MOST_ITEMS:
            raise InteropError(f"claims {count[0]} items, expected 1 to {MOST_ITEMS}: the file is damaged")
        entries = [self._entry() for _ in range(count[0])]
        names = [self._name(length) for length, *_ in entries]
        shapes = [self._shape(name, entry[2]) for name, entry in zip(names, entries, strict=True)]
        (gap,) = self._numbers(_NUMBER)
        self._bytes(gap)
        found: dict[str, Item] = {}
        for name, (_, kind, _, size), shape in zip(names, entries, shapes, strict=True):
            if name in found:
                raise InteropError(f"holds the item {name!r:.120} twice: the file is damaged")
            found[name] = _checked(Item(name, kind, shape, self._bytes(size)))
        return found

    def _bytes(self, size: int) -> memoryview:
        if size > len(self._content) - self._position:
            raise InteropError(
                f"ends at byte {len(self._content)}, before {size} bytes from byte {self._position}: it is cut off or "
                "damaged, download it again"
            )
        found = self._content[self._position : self._position + size]
        self._position += size
        return found

    def _numbers(self, form: struct.Struct) -> tuple[int, ...]:
        return form.unpack(self._bytes(form.size))

    def _entry(self) -> tuple[int, int, int, int]:
        length, kind, dimensions, size = self._numbers(_ENTRY)
        if not 1 <= length <= LONGEST_NAME or dimensions > MOST_DIMENSIONS:
            raise InteropError(f"has an item with a name of {length} bytes and {dimensions} dimensions: it is damaged")
        return length, kind, dimensions, size

    def _name(self, length: int) -> str:
        raw = bytes(self._bytes(length))
        try:
            name = raw[:-1].decode("ascii")
        except UnicodeDecodeError as error:
            raise InteropError(f"has an item with the name {raw!r:.80}: the file is damaged") from error
        if raw[-1] or not name.isprintable():
            raise InteropError(f"has an item with the name {raw!r:.80}: the file is damaged")
        return name

    def _shape(self, name: str, dimensions: int) -> tuple[int, ...]:
        shape = struct.unpack(f"<{dimensions}i", self._bytes(4 * dimensions))
        if not all(1 <= extent <= LARGEST_EXTENT for extent in shape):
            raise InteropError(f"item {name!r:.120} has the shape {list(shape)}: the file is damaged")
        return shape


def _checked(item: Item) -> Item:
    if item.type in _REFUSED:
        raise InteropError(
            f"item {item.name!r:.120} has the type {_REFUSED[item.type]}, which PocketMT does not read: "
            "use a file of type float32 or intgemm8"
        )
    sizes = {FLOAT32: 4 * item.size, INT8: item.size, INTGEMM8: item.size + _MULTIPLIER.size}
    if item.type not in sizes:
        raise InteropError(f"item {item.name!r:.120} has the unknown type {item.type:#x}: the file is damaged")
    if len(item.data) < sizes[item.type]:
        raise InteropError(
            f"item {item.name!r:.120} of shape {list(item.shape)} takes {sizes[item.type]} bytes, but has "
            f"{len(item.data)}: the file is damaged"
        )
    if item.type == INTGEMM8 and not 0 < item.multiplier() < float("inf"):
        raise InteropError(f"item {item.name!r:.120} has the multiplier {item.multiplier()}: the file is damaged")
    return item


def float_item(name: str, values: Float32) -> Item:
    """Return an item of floats; a vector becomes [1, n]."""
    shape = values.shape if values.ndim == 2 else (1, values.size)
    return Item(name, FLOAT32, shape, _padded(np.ascontiguousarray(values, "<f4").tobytes()))


def coded_item(name: str, shape: tuple[int, int], codes: NDArray[np.int8], multiplier: float) -> Item:
    """Return an item of codes in the order of the file; `shape` is Marian's."""
    return Item(name, INTGEMM8, shape, _padded(codes.tobytes() + _MULTIPLIER.pack(multiplier)))


def settings_item(content: bytes) -> Item:
    """Return the item of the settings, which is the last of a file."""
    return Item(MODEL_YML, INT8, (len(content),), content)


def write_container(file: BinaryIO, items: Iterable[Item]) -> None:
    """Write items in their order; those that are read when they are taken need not be in memory together twice."""
    items = list(items)
    names = [item.name.encode("ascii") + b"\0" for item in items]
    head = struct.pack("<QQ", VERSION, len(items))
    head += b"".join(
        _ENTRY.pack(len(name), item.type, len(item.shape), len(item.data))
        for name, item in zip(names, items, strict=True)
    )
    head += b"".join(names) + b"".join(struct.pack(f"<{len(item.shape)}i", *item.shape) for item in items)
    gap = ALIGNMENT - (len(head) + _NUMBER.size) % ALIGNMENT  # a whole one if none is needed, as Marian writes it
    file.write(head + _NUMBER.pack(gap) + bytes(gap))
    for item in items:
        file.write(item.data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
