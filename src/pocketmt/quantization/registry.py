"""The registry of schemes: recipes refer to a scheme by its name."""

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
from pocketmt.quantization.uniform import Uniform, Uniform7

SCHEMES: Final[dict[str, type[Scheme]]] = {}  # by name, in the order in which messages and pages list them


def register_scheme(scheme: type[Scheme]) -> None:
    """Make a scheme known by its name.

    Its dataclass fields are its options. The Literal type of a field lists the values that recipes may give; fields of
    other types are checked by the scheme itself.

    Raises:
        ConfigurationError: the name is taken.
    """
    if scheme.name in SCHEMES:
        raise ConfigurationError(f"the scheme {scheme.name!r} is registered already: give another name")
    SCHEMES[scheme.name] = scheme


for _scheme in (
    Uniform,
    Uniform7,
    Affine,
    Logarithmic,
    FixedPoint,
    Codebook,
    EntropyConstrained,
    FixedBinarization,
    FlexibleBinarization,
    BinaryCode,
):
    register_scheme(_scheme)


def scheme_from_options(name: str, **options: object) -> Scheme:
    """Return the scheme of a name, e.g. scheme_from_options("affine", bits=4, granularity="row").

    Omitted options have their defaults. An option with a fixed value, e.g. the granularity of a codebook, may be given
    with that value.

    Raises:
        ConfigurationError: unknown name, option or value; the message lists the known ones.
    """
    if name not in SCHEMES:
        raise ConfigurationError(f"unknown scheme {name!r:.80}: choose one of {', '.join(SCHEMES)}")
    allowed = allowed_options(name)
    free = {field.name for field in fields(SCHEMES[name])}
    for option, value in options.items():
        if option not in allowed:
            raise ConfigurationError(f"{name}: unknown option {option!r:.80}: it has {', '.join(allowed)}")
        values = allowed[option]
        if values is not None and (type(value), value) not in [(type(one), one) for one in values]:
            expected = ", ".join(map(repr, values))
            raise ConfigurationError(f"{name}: {option} is {value!r:.80}, expected one of {expected}")
    return SCHEMES[name](**{option: value for option, value in options.items() if option in free})


def allowed_options(name: str) -> dict[str, tuple[object, ...] | None]:
    """Return the options of a scheme, each with its allowed values; None if the scheme checks the value itself."""
    scheme = SCHEMES[name]
    hints = get_type_hints(scheme)
    free = {field.name for field in fields(scheme)}
    result: dict[str, tuple[object, ...] | None] = {}
    for option in ("bits", "granularity"):
        result[option] = get_args(hints[option]) if option in free else (getattr(scheme, option),)
    for option in free - result.keys():
        result[option] = get_args(hints[option]) if get_origin(hints[option]) is Literal else None
    return result
