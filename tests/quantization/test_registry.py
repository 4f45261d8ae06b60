import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.quantization import Affine, BinaryCode, FixedBinarization, Logarithmic, Uniform, scheme_from_options
from pocketmt.quantization.registry import SCHEMES, allowed_options


def test_schemes_by_name() -> None:
    assert scheme_from_options("uniform") == Uniform()
    assert scheme_from_options("affine", bits=4, granularity="matrix") == Affine(4, "matrix")
    assert scheme_from_options("logarithmic", bits=3, scale="maximum") == Logarithmic("row", 3, "maximum")
    assert scheme_from_options("binary", bits=2, method="greedy") == BinaryCode(2, "greedy")
    assert scheme_from_options("binarization_fixed", values=(1.0, -1.0)) == FixedBinarization((1.0, -1.0))


def test_an_option_with_a_fixed_value_may_be_given() -> None:
    assert scheme_from_options("uniform", bits=8, granularity="row") == Uniform()
    assert scheme_from_options("uniform", scales="float32") == Uniform(scales="float32")
    assert scheme_from_options("binary", bits=1, granularity="row") == BinaryCode(1)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_allowed_value_makes_a_scheme(name: str) -> None:
    for option, values in allowed_options(name).items():
        for value in values or ():
            scheme = scheme_from_options(name, **{option: value})
            assert scheme.name == name
            assert getattr(scheme, option) == value


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("unifrom", {}, "unknown scheme 'unifrom': choose one of uniform, uniform7, affine, logarithmic"),
        ("affine", {"bits": 5}, "affine: bits is 5, expected one of 4, 6, 8"),
        ("affine", {"bits": "4"}, "affine: bits is '4', expected one of 4, 6, 8"),
        ("binary", {"bits": True}, "binary: bits is True, expected one of 1, 2, 3, 4"),
        ("logarithmic", {"bits": 1.0}, "bits is 1.0, expected one of 1, 2, 3, 4"),
        ("uniform", {"bits": 4}, "uniform: bits is 4, expected one of 8"),
        ("codebook", {"granularity": "row"}, "granularity is 'row', expected one of 'matrix'"),
        ("codebook", {"rate": 1}, "codebook: unknown option 'rate': it has bits, granularity"),
        ("binary", {"method": "best"}, "method is 'best', expected one of 'greedy', 'alternating'"),
        ("binary", {"bits": [2]}, r"bits is \[2\], expected one of"),
        ("binarization_fixed", {"values": "wide"}, "values"),
        ("binarization_fixed", {"values": [1.0]}, "values"),
        ("binarization_fixed", {"values": [1.0, None]}, "values"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(name: str, options: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        scheme_from_options(name, **options)


def test_a_list_from_a_recipe_is_accepted() -> None:
    scheme = scheme_from_options("binarization_fixed", values=[0.5, -1])
    assert scheme == FixedBinarization((0.5, -1.0))
    assert hash(scheme) == hash(FixedBinarization((0.5, -1.0)))
