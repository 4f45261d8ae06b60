"""The stored forms, and the registry by which the manifest refers to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, ClassVar, Final, Self

from pocketmt.errors import ModelFileError
from pocketmt.model_file.errors import NewerFileError
from pocketmt.model_file.matrices.packed_bits import pack_planes, packed_bytes
from pocketmt.model_file.matrices.stored_form import COMMON_MEMBERS, StoredForm, TensorLayout

HIGHEST_LEVEL: Final = 127


@dataclass(frozen=True, slots=True)
class UniformForm(StoredForm):
    """weight = code * scale, int8 codes in [-127, 127]; the manifest may say that scales of rows are F32, not BF16."""

    float32_scales: bool = False
    name: ClassVar[str] = "uniform"
    allowed_bits: ClassVar[tuple[int, ...]] = (8,)
    allowed_granularities: ClassVar[tuple[str, ...]] = ("row", "matrix")
    members: ClassVar[tuple[str, ...]] = ("scales",)

    @classmethod
    def from_json(cls, entry: Mapping[str, object], bits: int, granularity: str, where: str) -> Self:
        """Read an entry of the manifest; raises ModelFileError naming `where` for other members or scales."""
        form = super(UniformForm, cls).from_json(entry, bits, granularity, where)
        if "scales" not in entry:
            return form
        if entry["scales"] != "F32" or granularity != "row":
            raise ModelFileError(f"{where}: scales is {entry['scales']!r:.40} per {granularity}, only 'F32' per row is")
        return cls(bits, granularity, True)

    def to_json(self) -> dict[str, object]:
        """Return the entry of the manifest, with the scales of rows if they are F32."""
        return StoredForm.to_json(self) | ({"scales": "F32"} if self.float32_scales else {})

    def __str__(self) -> str:
        return StoredForm.__str__(self) + (", fp32 scales" if self.float32_scales else "")

    def parameter_layouts(self, rows: int) -> dict[str, TensorLayout]:
        """Return dtype and shape of the scales."""
        return {"scale": ("F32", (rows,))} if self.float32_scales else StoredForm.parameter_layouts(self, rows)

    def code_layout(self, rows: int, columns: int) -> TensorLayout:
        """Return dtype and shape of the codes."""
        return "I8", (rows, columns)


class AffineForm(StoredForm):
    """weight = minimum + code * scale."""

    __slots__ = ()
    name: ClassVar[str] = "affine"
    allowed_bits: ClassVar[tuple[int, ...]] = (4, 6, 8)
    allowed_granularities: ClassVar[tuple[str, ...]] = ("row", "matrix")
    parameters: ClassVar[tuple[str, ...]] = ("scale", "minimum")


@dataclass(frozen=True, slots=True)
class LogarithmicForm(StoredForm):
    """weight = levels[code] * scale; the manifest holds the levels, 2^bits whole numbers in [-127, 127]."""

    levels: tuple[int, ...] = ()
    name: ClassVar[str] = "logarithmic"
    allowed_bits: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    allowed_granularities: ClassVar[tuple[str, ...]] = ("row", "matrix")
    members: ClassVar[tuple[str, ...]] = ("levels",)
    zero_padded: ClassVar[bool] = False  # the first version of the format did not say so

    @classmethod
    def from_json(cls, entry: Mapping[str, object], bits: int, granularity: str, where: str) -> Self:
        """Read an entry of the manifest; raises ModelFileError naming `where` for other levels."""
        levels, count = entry.get("levels"), 2**bits
        if (
            not isinstance(levels, list)
            or len(levels) != count
            or not all(type(level) is int and -HIGHEST_LEVEL <= level <= HIGHEST_LEVEL for level in levels)
        ):
            raise ModelFileError(
                f"{where}: levels are not {count} whole numbers in [-{HIGHEST_LEVEL}, {HIGHEST_LEVEL}]"
            )
        return cls(bits, granularity, tuple(levels))

    def to_json(self) -> dict[str, object]:
        """Return the entry of the manifest, with the levels."""
        return {"name": self.name, "bits": self.bits, "granularity": self.granularity, "levels": list(self.levels)}


class CodebookForm(StoredForm):
    """weight = levels[code] * scale; a tensor holds the levels, 2^bits whole numbers in [-127, 127]."""

    __slots__ = ()
    name: ClassVar[str] = "codebook"
    allowed_bits: ClassVar[tuple[int, ...]] = (1, 2, 3, 4, 8)
    allowed_granularities: ClassVar[tuple[str, ...]] = ("matrix",)

    def parameter_layouts(self, rows: int) -> dict[str, TensorLayout]:
        """Return dtype and shape of levels and scale."""
        return {"levels": ("I8", (2**self.bits,)), **StoredForm.parameter_layouts(self, rows)}


class BinaryForm(StoredForm):
    """weight = sum_i alphas[i], added if bit i of the code is set, else subtracted; bit i of all codes is plane i."""

    __slots__ = ()
    name: ClassVar[str] = "binary"
    allowed_bits: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    allowed_granularities: ClassVar[tuple[str, ...]] = ("row",)
    code_tensor: ClassVar[str] = "planes"

    @property
    def packed_bits(self) -> int:
        """Bits of one element of a plane."""
        return 1

    def code_layout(self, rows: int, columns: int) -> TensorLayout:
        """Return dtype and shape of the planes."""
        return "U8", (rows, self.bits, packed_bytes(columns, 1))

    def parameter_layouts(self, rows: int) -> dict[str, TensorLayout]:
        """Return dtype and shape of the alphas."""
        return {"alphas": ("BF16", (rows, self.bits))}

    def codes_of_weights(self, elements: Any) -> Any:
        """Return the codes [rows, columns] of planes [rows, bits, columns]."""
        return reduce(or_, (elements[:, bit] << bit for bit in range(self.bits)))

    def pack_stream(self, lanes: list[bytes], columns: int) -> bytes:
        """Return planes from the codes of a stream."""
        return pack_planes(lanes, self.bits, columns)


STORED_FORMS: Final[dict[str, type[StoredForm]]] = {
    form.name: form for form in (UniformForm, AffineForm, LogarithmicForm, CodebookForm, BinaryForm)
}
_MEMBERS: Final = dict.fromkeys((*COMMON_MEMBERS, *(name for form in STORED_FORMS.values() for name in form.members)))


def form_from_json(value: object, where: str) -> StoredForm:
    """Read an entry of the manifest's member `schemes`; raises ModelFileError naming `where`."""
    if not isinstance(value, dict) or not value.keys() <= _MEMBERS.keys():
        raise ModelFileError(f"{where}: expected an object of {', '.join(_MEMBERS)}")
    name, bits, granularity = value.get("name"), value.get("bits"), value.get("granularity")
    form = STORED_FORMS.get(name) if isinstance(name, str) else None
    if (
        form is None
        or type(bits) is not int
        or bits not in form.allowed_bits
        or not isinstance(granularity, str)
        or granularity not in form.allowed_granularities
    ):
        raise NewerFileError(
            f"{where}: {name!r:.40} of {bits!r:.40} bits per {granularity!r:.40} is unknown here (known: {_known()})"
        )
    return form.from_json(value, bits, granularity, where)


def _known() -> str:
    return "; ".join(
        f"{name} of {' or '.join(map(str, form.allowed_bits))} bits per {' or '.join(form.allowed_granularities)}"
        for name, form in STORED_FORMS.items()
    )
