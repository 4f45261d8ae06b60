"""Quantization of the inputs of quantized matrices, if not dynamic: the manifest's member `products`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from pocketmt.errors import ModelFileError
from pocketmt.model_file.errors import NewerFileError
from pocketmt.model_file.members import check_members

_LARGEST_BITS: Final = 4
_STATIC_BITS: Final = 8
# Far beyond the range of activations, and small enough that products stay finite in float32.
_SCALES: Final = (2.0**-20, 2.0**20)
_CALIBRATED_SCALES: Final = (2.0**-100, 2.0**100)  # scales whose inverses are normal numbers


@dataclass(frozen=True, slots=True)
class StoredLogarithmicActivations:
    """Activations of +-scale * 2^q, q a whole number in (-2^(bits-1), 0].

    Attributes:
        bits: of a code, 1 to 4.
        scale: the largest magnitude.
    """

    bits: int
    scale: float
    members: ClassVar[tuple[str, ...]] = ("scheme", "bits", "scale")

    @classmethod
    def from_json(cls, value: Mapping[str, object], where: str) -> Self:
        """Read the manifest's member; raises ModelFileError naming what is wrong, beginning with `where`."""
        bits, scale = value["bits"], value["scale"]
        if type(bits) is not int or not 1 <= bits <= _LARGEST_BITS:
            raise NewerFileError(f"{where}: bits is {bits!r:.40}, expected a whole number from 1 to {_LARGEST_BITS}")
        low, high = _SCALES
        if not isinstance(scale, int | float) or isinstance(scale, bool) or not low <= scale <= high:
            raise ModelFileError(f"{where}: scale is {scale!r:.40}, expected a number from 2^-20 to 2^20")
        return cls(bits, float(scale))

    @property
    def top(self) -> int:
        """Largest magnitude in units of the smallest."""
        return 1 << (1 << self.bits - 1) - 1

    def __str__(self) -> str:
        return f"{self.bits} bit on a logarithmic scale up to {self.scale:g}, for the inputs of quantized matrices"


@dataclass(frozen=True, slots=True)
class StoredStaticActivations:
    """Activations of 8 bits; the tensor "<matrix>.activation_scale" holds the scale for each matrix."""

    bits: int = _STATIC_BITS
    members: ClassVar[tuple[str, ...]] = ("scheme", "bits")

    @classmethod
    def from_json(cls, value: Mapping[str, object], where: str) -> Self:
        """Read the manifest's member; raises ModelFileError naming what is wrong, beginning with `where`."""
        if type(value["bits"]) is not int or value["bits"] != _STATIC_BITS:
            raise NewerFileError(f"{where}: bits is {value['bits']!r:.40}, expected {_STATIC_BITS}")
        return cls()

    def __str__(self) -> str:
        return f"{self.bits} bit at calibrated scales, for the inputs of quantized matrices"


StoredActivationQuantization = StoredLogarithmicActivations | StoredStaticActivations
_FORMS: Final[dict[str, type[StoredActivationQuantization]]] = {
    "logarithmic": StoredLogarithmicActivations,
    "uniform": StoredStaticActivations,
}


def activation_scale_name(matrix: str) -> str:
    """Return the name of the tensor F32 [1] with the value of code 1 of a matrix's inputs."""
    return f"{matrix}.activation_scale"


def activation_quantization_from_json(value: object, where: str) -> StoredActivationQuantization:
    """Read the manifest's member; raises ModelFileError naming what is wrong, beginning with `where`."""
    if not isinstance(value, dict):
        raise ModelFileError(f"{where} is not an object")
    if "scheme" not in value:
        raise ModelFileError(f"{where}: scheme is missing")
    kind = value["scheme"]
    if not isinstance(kind, str) or kind not in _FORMS:
        known = ", ".join(repr(name) for name in _FORMS)
        raise NewerFileError(f"{where}: scheme {kind!r:.40} is unknown here (known: {known})")
    form = _FORMS[kind]
    check_members(value, form.members, where)
    return form.from_json(value, where)


def check_activation_scale(matrix: str, content: memoryview) -> None:
    """Raise ModelFileError unless the calibrated scale of a matrix's inputs and its inverse are positive float32."""
    (scale,) = content.cast("f")
    low, high = _CALIBRATED_SCALES
    if not low <= scale <= high:
        raise ModelFileError(
            f"tensor {activation_scale_name(matrix)!r} holds {scale!r:.40}, expected a scale from 2^-100 to 2^100"
        )
