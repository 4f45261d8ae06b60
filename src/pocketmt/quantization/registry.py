"""Schemes by name, as recipes ask for them."""

from dataclasses import fields
from typing import Final, Literal, get_args, get_origin, get_type_hints

from pocketmt.errors import ConfigurationError
from pocketmt.quantization.affine import Affine
from pocketmt.quantization.binarization import FixedBinarization, FlexibleBinarization
from pocketmt.quantization.binary_code import BinaryCode
from pocketmt.quantization.codebook import Codebook
from pocketmt.quantization.entropy_constrained import EntropyConstrained
from pocketmt.quantization.fixed_point import FixedPoint
from pocketmt.quantization.logarithmic import Logarithmic
from pocketmt.quantization.scheme import Scheme
from pocketmt.quantization.uniform import Uniform

# A scheme's dataclass fields are its options; what may be given for one is its Literal type.
SCHEMES: Final[dict[str, type[Scheme]]] = {
    scheme.name: scheme
    for scheme in (
        Uniform,
        Affine,
        Logarithmic,
        FixedPoint,
        Codebook,
        EntropyConstrained,
        FixedBinarization,
        FlexibleBinarization,
        BinaryCode,
    )
}


def scheme_from_options(name: str, **options: object) -> Scheme:
    """Return the scheme of this name, e.g. scheme_from_options("affine", bits=4, granularity="row").

    Options that are not given keep their defaults. An option whose value is fixed, e.g. the granularity of a codebook,
    may be given with that value.

    Raises:
        ConfigurationError: unknown name, option or value, with what may stand there.
    """
    if name not in SCHEMES:
        raise ConfigurationError(f"unknown scheme {name!r:.80}: choose one of {', '.join(SCHEMES)}")
    allowed = allowed_options(name)
    free = {field.name for field in fields(SCHEMES[name])}  # type: ignore[arg-type]
    for option, value in options.items():
        if option not in allowed:
            raise ConfigurationError(f"{name}: unknown option {option!r:.80}: it has {', '.join(allowed)}")
        values = allowed[option]
        if values is not None and (type(value), value) not in [(type(one), one) for one in values]:
            expected = ", ".join(map(repr, values))
            raise ConfigurationError(f"{name}: {option} is {value!r:.80}, expected one of {expected}")
    return SCHEMES[name](**{option: value for option, value in options.items() if option in free})


def allowed_options(name: str) -> dict[str, tuple[object, ...] | None]:
    """Return a scheme's options, each with the values that it may have; None where the scheme checks them itself."""
    scheme = SCHEMES[name]
    hints = get_type_hints(scheme)
    free = {field.name for field in fields(scheme)}  # type: ignore[arg-type]
    result: dict[str, tuple[object, ...] | None] = {}
    for option in ("bits", "granularity"):
        result[option] = get_args(hints[option]) if option in free else (getattr(scheme, option),)
    for option in free - result.keys():
        result[option] = get_args(hints[option]) if get_origin(hints[option]) is Literal else None
    return result
