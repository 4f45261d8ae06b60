"""How each scheme's codes and parameters lie in the file: the one table that reader, writer and report share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.newer import NewerFileError

TensorForm = tuple[str, tuple[int, ...]]  # dtype and shape
LEVELS: Final = 16
HIGHEST_LEVEL: Final = 127


@dataclass(frozen=True, slots=True)
class StoredScheme:
    """A scheme as the manifest states it.

    Attributes:
        name: the scheme's name, e.g. "uniform".
        bits: of one code.
        granularity: what shares a scale: a "row" or the whole "matrix" (here: the row group).
        levels: of a level table, 16 values in [-127, 127]; None where the code itself is the level.
    """

    name: str
    bits: int
    granularity: str
    levels: tuple[int, ...] | None = None

    def tensors(self, rows: int, columns: int) -> dict[str, TensorForm]:
        """Return suffix -> (dtype, shape) of the tensors of a row group of this scheme."""
        return _LAYOUTS[self.name, self.bits, self.granularity](rows, columns)

    def to_json(self) -> dict[str, object]:
        """Return the manifest's entry."""
        entry: dict[str, object] = {"name": self.name, "bits": self.bits, "granularity": self.granularity}
        if self.levels is not None:
            entry["levels"] = list(self.levels)
        return entry


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Consecutive rows of a matrix that share a scheme; fields as in StoredScheme, and the group's shape."""

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
    key = (value.get("name"), value.get("bits"), value.get("granularity"))
    if not all(isinstance(part, str | int) and not isinstance(part, bool) for part in key) or key not in _LAYOUTS:
        known = "; ".join(f"{name} of {bits} bits per {granularity}" for name, bits, granularity in _LAYOUTS)
        raise NewerFileError(
            f"{where}: {key[0]!r:.40} of {key[1]!r:.40} bits per {key[2]!r:.40} is unknown here (known: {known})"
        )
    name, bits, granularity = key
    return StoredScheme(str(name), int(str(bits)), str(granularity), _levels(value, str(name), where))


def _levels(value: dict[str, object], name: str, where: str) -> tuple[int, ...] | None:
    levels = value.get("levels")
    if name not in _WITH_LEVELS:
        if "levels" in value:
            raise ModelFileError(f"{where}: {name} has no levels")
        return None
    if (
        not isinstance(levels, list)
        or len(levels) != LEVELS
        or not all(type(level) is int and -HIGHEST_LEVEL <= level <= HIGHEST_LEVEL for level in levels)
    ):
        raise ModelFileError(f"{where}: levels are not {LEVELS} whole numbers in [-{HIGHEST_LEVEL}, {HIGHEST_LEVEL}]")
    return tuple(levels)


def _uniform8(rows: int, columns: int) -> dict[str, TensorForm]:
    return {"codes": ("I8", (rows, columns)), "scale": ("BF16", (rows,))}


def _nibbles_by_row(rows: int, columns: int) -> dict[str, TensorForm]:
    return {"codes": ("U8", (rows, (columns + 1) // 2)), "scale": ("BF16", (rows,))}


def _nibbles_by_matrix(rows: int, columns: int) -> dict[str, TensorForm]:
    return {"codes": ("U8", (rows, (columns + 1) // 2)), "scale": ("F32", (1,))}


# A new scheme adds its line here: the tensors of its codes and of its parameters.
_LAYOUTS: Final[dict[tuple[object, object, object], Callable[[int, int], dict[str, TensorForm]]]] = {
    ("uniform", 8, "row"): _uniform8,
    ("logarithmic", 4, "row"): _nibbles_by_row,
    ("logarithmic", 4, "matrix"): _nibbles_by_matrix,
}
_WITH_LEVELS: Final = frozenset({"logarithmic"})
