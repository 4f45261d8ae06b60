"""How a model file says that activations are quantized where they meet quantized matrices, other than by each row."""

from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.newer import NewerFileError

_MEMBERS: Final = {"logarithmic": ("scheme", "bits", "scale"), "uniform": ("scheme", "bits")}
_LARGEST_BITS: Final = 4
_STATIC_BITS: Final = 8
# Far beyond what activations are; products then stay far from what float32 can't hold.
_SCALES: Final = (2.0**-20, 2.0**20)


@dataclass(frozen=True, slots=True)
class Products:
    """Activations of +-scale * 2^q, q a whole number in (-2^(bits-1), 0].

    Attributes:
        bits: of a code, 1 to 4.
        scale: the largest magnitude.
    """

    bits: int
    scale: float

    @property
    def top(self) -> int:
        """The largest magnitude in units of the smallest."""
        return 1 << (1 << self.bits - 1) - 1

    def __str__(self) -> str:
        return f"activations of {self.bits} bit on a log scale up to {self.scale:g}, times quantized matrices"


@dataclass(frozen=True, slots=True)
class StaticProducts:
    """Activations of 8 bits, at the scale that the tensor "<matrix>.activation_scale" holds for each matrix."""

    bits: int = _STATIC_BITS

    def __str__(self) -> str:
        return f"activations of {self.bits} bit at calibrated scales, times quantized matrices"


def activation_scale_name(matrix: str) -> str:
    """Return the name of the tensor F32 [1] with what a code of 1 stands for, of the activations that meet a matrix."""
    return f"{matrix}.activation_scale"


def products_from_json(value: object, where: str) -> Products | StaticProducts:
    """Check the manifest's member; raises ModelFileError naming what is wrong, beginning with `where`."""
    if not isinstance(value, dict):
        raise ModelFileError(f"{where} is not an object")
    if "scheme" not in value:
        raise ModelFileError(f"{where}: scheme is missing")
    scheme = value["scheme"]
    if not isinstance(scheme, str) or scheme not in _MEMBERS:
        known = ", ".join(repr(name) for name in _MEMBERS)
        raise NewerFileError(f"{where}: scheme {scheme!r:.40} is unknown here (known: {known})")
    for name in _MEMBERS[scheme]:
        if name not in value:
            raise ModelFileError(f"{where}: {name} is missing")
    for name in value:
        if name not in _MEMBERS[scheme]:
            raise NewerFileError(f"{where}: unknown member {name!r:.80}")
    return _logarithmic(value, where) if scheme == "logarithmic" else _uniform(value, where)


def _logarithmic(value: dict[str, object], where: str) -> Products:
    bits, scale = value["bits"], value["scale"]
    if type(bits) is not int or not 1 <= bits <= _LARGEST_BITS:
        raise NewerFileError(f"{where}: bits is {bits!r:.40}, expected a whole number from 1 to {_LARGEST_BITS}")
    low, high = _SCALES
    if not isinstance(scale, int | float) or isinstance(scale, bool) or not low <= scale <= high:
        raise ModelFileError(f"{where}: scale is {scale!r:.40}, expected a number from 2^-20 to 2^20")
    return Products(bits, float(scale))


def _uniform(value: dict[str, object], where: str) -> StaticProducts:
    if type(value["bits"]) is not int or value["bits"] != _STATIC_BITS:
        raise NewerFileError(f"{where}: bits is {value['bits']!r:.40}, expected {_STATIC_BITS}")
    return StaticProducts()
