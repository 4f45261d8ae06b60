"""How each scheme's codes and parameters lie in the file: the one table that reader, writer and report share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.newer import NewerFileError

TensorForm = tuple[str, tuple[int, ...]]  # dtype and shape
HIGHEST_LEVEL: Final = 127
MAXIMUM_GROUPED: Final = 16  # row groups whose rows need not be consecutive


@dataclass(frozen=True, slots=True)
class StoredScheme:
    """A scheme as the manifest states it.

    Attributes:
        name: of the stored form, e.g. "uniform".
        bits: of one code.
        granularity: what shares parameters: a "row" or the whole "matrix" (here: the row group).
        levels: of a level table that the manifest holds, 2^bits values in [-127, 127]; else None.
    """

    name: str
    bits: int
    granularity: str
    levels: tuple[int, ...] | None = None

    def tensors(self, rows: int, columns: int) -> dict[str, TensorForm]:
        """Return suffix -> (dtype, shape) of the tensors of a row group of this scheme."""
        return _LAYOUTS[self.name].tensors(self, rows, columns)

    def to_json(self) -> dict[str, object]:
        """Return the manifest's entry."""
        entry: dict[str, object] = {"name": self.name, "bits": self.bits, "granularity": self.granularity}
        if self.levels is not None:
            entry["levels"] = list(self.levels)
        return entry


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of a matrix that share a scheme; fields as in StoredScheme, and the group's shape.

    Which rows: the next ones of the matrix, or what `ModelFile.group_of_row` says.
    """

    scheme: str
    bits: int
    granularity: str
    levels: tuple[int, ...] | None
    rows: int
    columns: int

    def tensors(self) -> dict[str, TensorForm]:
        """Return suffix -> (dtype, shape) of the group's tensors."""
        return StoredScheme(self.scheme, self.bits, self.granularity, self.levels).tensors(self.rows, self.columns)


def scheme_from_json(value: object, where: str) -> StoredScheme:
    """Read one entry of the manifest's schemes; raises ModelFileError naming `where`."""
    if not isinstance(value, dict) or not set(value) <= {"name", "bits", "granularity", "levels"}:
        raise ModelFileError(f"{where}: expected an object of name, bits, granularity and levels")
    name, bits, granularity = value.get("name"), value.get("bits"), value.get("granularity")
    layout = _LAYOUTS.get(name) if isinstance(name, str) else None
    if layout is None or type(bits) is not int or bits not in layout.bits or granularity not in layout.granularities:
        raise NewerFileError(
            f"{where}: {name!r:.40} of {bits!r:.40} bits per {granularity!r:.40} is unknown here (known: {_known()})"
        )
    assert isinstance(name, str)
    return StoredScheme(name, bits, granularity, _levels(value, name, 2**bits, where))


def groups_form(groups: int, rows: int) -> TensorForm:
    """Return dtype and shape of the tensor that says each row's group, for 2 to 16 groups."""
    return "U8", (1, packed_bytes(rows, group_index_bits(groups)))


def group_index_bits(groups: int) -> int:
    """Return the bits that hold a group's index: 1, 2 or 4, the fewest that are enough for 2 to 16 groups."""
    return next(bits for bits in (1, 2, 4) if groups <= 2**bits)


def packed_bytes(columns: int, bits: int) -> int:
    """Return the bytes of a row of packed codes."""
    return -(-columns * bits // 8)


def unused_bits_are_zero(scheme: str) -> bool:
    """Whether the bits after a row's last code must be 0; in `logarithmic`, the oldest, they may be anything."""
    return scheme != "logarithmic"


def _known() -> str:
    return "; ".join(
        f"{name} of {' or '.join(map(str, layout.bits))} bits per {' or '.join(layout.granularities)}"
        for name, layout in _LAYOUTS.items()
    )


def _levels(value: dict[str, object], name: str, count: int, where: str) -> tuple[int, ...] | None:
    levels = value.get("levels")
    if not _LAYOUTS[name].with_levels:
        if "levels" in value:
            raise ModelFileError(f"{where}: {name} has no levels in the manifest")
        return None
    if (
        not isinstance(levels, list)
        or len(levels) != count
        or not all(type(level) is int and -HIGHEST_LEVEL <= level <= HIGHEST_LEVEL for level in levels)
    ):
        raise ModelFileError(f"{where}: levels are not {count} whole numbers in [-{HIGHEST_LEVEL}, {HIGHEST_LEVEL}]")
    return tuple(levels)


Tensors = dict[str, TensorForm]


@dataclass(frozen=True, slots=True)
class _Layout:
    """What of a scheme may be asked for, and the tensors of a row group of (scheme, rows, columns)."""

    bits: tuple[int, ...]
    granularities: tuple[str, ...]
    tensors: Callable[[StoredScheme, int, int], Tensors]
    with_levels: bool = False


def _packed_codes(scheme: StoredScheme, rows: int, columns: int) -> Tensors:
    return {"codes": ("U8", (rows, packed_bytes(columns, scheme.bits)))}


def _parameter(scheme: StoredScheme, rows: int) -> TensorForm:
    return ("BF16", (rows,)) if scheme.granularity == "row" else ("F32", (1,))


def _uniform(scheme: StoredScheme, rows: int, columns: int) -> Tensors:
    return {"codes": ("I8", (rows, columns)), "scale": _parameter(scheme, rows)}


def _affine(scheme: StoredScheme, rows: int, columns: int) -> Tensors:
    parameter = _parameter(scheme, rows)
    return {**_packed_codes(scheme, rows, columns), "scale": parameter, "minimum": parameter}


def _logarithmic(scheme: StoredScheme, rows: int, columns: int) -> Tensors:
    return {**_packed_codes(scheme, rows, columns), "scale": _parameter(scheme, rows)}


def _codebook(scheme: StoredScheme, rows: int, columns: int) -> Tensors:
    levels: TensorForm = ("I8", (2**scheme.bits,))
    return {**_packed_codes(scheme, rows, columns), "levels": levels, "scale": _parameter(scheme, rows)}


def _binary(scheme: StoredScheme, rows: int, columns: int) -> Tensors:
    planes: TensorForm = ("U8", (rows, scheme.bits, packed_bytes(columns, 1)))
    return {"planes": planes, "alphas": ("BF16", (rows, scheme.bits))}


# A new scheme adds its line here.
_LAYOUTS: Final = {
    "uniform": _Layout((8,), ("row",), _uniform),
    "affine": _Layout((4, 6, 8), ("row", "matrix"), _affine),
    "logarithmic": _Layout((1, 2, 3, 4), ("row", "matrix"), _logarithmic, with_levels=True),
    "codebook": _Layout((1, 2, 3, 4, 8), ("matrix",), _codebook),
    "binary": _Layout((1, 2, 3, 4), ("row",), _binary),
}
