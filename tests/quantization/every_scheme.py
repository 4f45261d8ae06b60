"""All schemes with their options, and various weights."""

from itertools import product
from typing import Final

import torch
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import Scheme, scheme_from_options

Options = dict[str, object]
_PAIRS: Final = ("row", "matrix")


def _combined(name: str, **choices: tuple[object, ...]) -> list[tuple[str, Options]]:
    return [(name, dict(zip(choices, chosen, strict=True))) for chosen in product(*choices.values())]


OPTIONS: Final = [
    *_combined("uniform"),
    *_combined("uniform", granularity=("matrix",)),
    *_combined("uniform", scales=("float32",)),
    *_combined("affine", bits=(4, 6, 8), granularity=_PAIRS),
    *_combined("affine", bits=(4, 6), granularity=_PAIRS, fitted_range=("least_squares",)),
    *_combined("logarithmic", bits=(1, 2, 3, 4), granularity=_PAIRS),
    *_combined("logarithmic", bits=(2, 4), scale=("none", "maximum")),
    *_combined("fixed_point"),
    *_combined("entropy_constrained", bits=(2, 3, 4), rate=(0.5, 1.7)),
    *_combined("codebook", bits=(1, 2, 3, 4, 8)),
    *_combined("binarization_fixed"),
    *_combined("binarization_fixed", values=((0.1, -0.2),)),
    *_combined("binarization_flexible"),
    *_combined("binary", bits=(1, 2, 3, 4), method=("greedy", "alternating")),
]
SCHEMES: Final[dict[str, Scheme]] = {
    " ".join([name, *map(str, options.values())]): scheme_from_options(name, **options) for name, options in OPTIONS
}
# Schemes whose codes are not those of the nearest value.
BY_RULE: Final = ("binarization_fixed", "binarization_fixed (0.1, -0.2)", *(n for n in SCHEMES if n.endswith("greedy")))
# Schemes whose boundaries are not midpoints of two values.
BETWEEN_BOUNDARIES: Final = tuple(name for name in SCHEMES if name.startswith("entropy_constrained"))


def random_weight(seed: int, rows: int = 4, columns: int = 24) -> Tensor:
    """Normal weights with a few large ones, as trained matrices have them."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(rows, columns, generator=generator)
    return weight * (1 + 4 * (torch.rand(rows, columns, generator=generator) < 0.05))


def weights(magnitude: float = 10.0) -> st.SearchStrategy[Tensor]:
    """Float32 [1 to 4 rows, 1 to 6 columns], often with zeros, repetitions and extremes."""
    value = st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, -1.0, magnitude, -magnitude]), st.floats(-magnitude, magnitude, width=32)
    )
    return st.integers(1, 6).flatmap(
        lambda columns: st.lists(st.lists(value, min_size=columns, max_size=columns), min_size=1, max_size=4).map(
            lambda rows: torch.tensor(rows, dtype=torch.float32)
        )
    )


def values_of_codes(scheme: Scheme, parameters: dict[str, Tensor], rows: int) -> Tensor:
    """The value of each of the 2^bits codes in each row, float32 [codes, rows]."""
    every = []
    for code in range(2**scheme.bits):
        if scheme.name == "binary":
            bits = torch.tensor([code >> bit & 1 for bit in range(scheme.bits)], dtype=torch.uint8)
            codes = bits[None, :, None].expand(rows, -1, 1)
        elif scheme.name == "uniform":
            codes = torch.full((rows, 1), max(code - 128, -127), dtype=torch.int8)
        else:
            codes = torch.full((rows, 1), code, dtype=torch.uint8)
        every.append(scheme.decode(codes, parameters)[:, 0])
    return torch.stack(every)
