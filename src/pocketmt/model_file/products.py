"""How a model file says that activations are quantized on a fixed scale where they meet quantized matrices."""

from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.newer import NewerFileError

_MEMBERS: Final = ("scheme", "bits", "scale")
_LARGEST_BITS: Final = 4
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


def products_from_json(value: object, where: str) -> Products:
    """Check the manifest's member; raises ModelFileError naming what is wrong, beginning with `where`."""
    if not isinstance(value, dict):
        raise ModelFileError(f"{where} is not an object")
    for name in _MEMBERS:
        if name not in value:
            raise ModelFileError(f"{where}: {name} is missing")
    for name in value:
        if name not in _MEMBERS:
            raise NewerFileError(f"{where}: unknown member {name!r:.80}")
    if value["scheme"] != "logarithmic":
        raise NewerFileError(f"{where}: scheme {value['scheme']!r:.40} is unknown here (known: 'logarithmic')")
    bits, scale = value["bits"], value["scale"]
    if type(bits) is not int or not 1 <= bits <= _LARGEST_BITS:
        raise NewerFileError(f"{where}: bits is {bits!r:.40}, expected a whole number from 1 to {_LARGEST_BITS}")
    low, high = _SCALES
    if type(scale) not in (int, float) or not low <= scale <= high:
        raise ModelFileError(f"{where}: scale is {scale!r:.40}, expected a number from 2^-20 to 2^20")
    return Products(bits, float(scale))
