"""Binary codes: a weight is a sum of factors, each added or subtracted."""

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from pocketmt.quantization.lookup_table import nearest_codes
from pocketmt.quantization.rounding import bfloat16_nearest
from pocketmt.quantization.scheme import Parameters, Scheme

PLANE_BITS: Final = 2  # with more bits, sums are rounded to whole numbers: see `binary_levels`
_LEAST_SUM: Final = 1e-35
_MOST_ROUNDS: Final = 100  # each round lowers the error, so stopping early is safe
_MOST_ROUNDED_ROUNDS: Final = 16
_ROWS_AT_ONCE: Final = 2048  # limits memory: the planes of a large embedding in float64 take gigabytes


@dataclass(frozen=True)
class BinaryCode(Scheme):
    """Rows w ~ sum_i alpha_i * b_i with b_i of -1 and +1 (Chung et al. 2020, section 2.2, eq. 1).

    Attributes:
        method: "greedy" takes one factor after the other from the residual (Guo et al. 2017, as in the paper).
            "alternating" starts from the greedy factors and alternates between least-squares factors for fixed codes
            and the best codes for fixed factors, until nothing changes (Xu et al. 2018). Weights shrink if greedy
            codes are quantized again: repeated quantization needs full-precision weights, or "alternating".
    """

    bits: Literal[1, 2, 3, 4] = 2
    method: Literal["greedy", "alternating"] = "alternating"
    name: ClassVar[str] = "binary"
    form: ClassVar[str] = "binary"
    learnable: ClassVar[bool] = True
    granularity: ClassVar[Literal["row"]] = "row"

    def fit(self, weight: Tensor) -> Parameters:
        """Return alphas, float32 [rows, bits], rounded to bfloat16; "alternating" returns the largest first."""
        return {"alphas": torch.cat([self._fit(rows.double()) for rows in torch.split(weight.detach(), _ROWS_AT_ONCE)])}

    def _fit(self, weight: Tensor) -> Tensor:
        greedy = _greedy_alphas(weight, self.bits)
        return greedy if self.method == "greedy" else _alternating_alphas(weight, greedy)

    def assign(self, weight: Tensor, parameters: Parameters) -> Tensor:
        """Return 1 for +1 and 0 for -1, uint8 [rows, bits, columns].

        "alternating" takes the codes of the nearest of the 2^bits sums. "greedy" takes the signs of the residuals,
        which are the same codes unless a factor is less than the sum of those after it.
        """
        alphas, weight = parameters["alphas"].detach(), weight.detach()
        if self.method == "greedy":
            return _greedy_bits(weight.double(), alphas.double())
        return _bits_of_codes(nearest_codes(weight, _decoded_sums(alphas)), self.bits)

    def decode(self, codes: Tensor, parameters: Parameters) -> Tensor:
        """Return sum_i alpha_i * b_i, added in order, float32 [rows, columns].

        With 3 or 4 bits the sum is rounded to a level times the scale of its row (`binary_levels`); the gradient of the
        factors is that of the sum.
        """
        alphas = parameters["alphas"]
        sums = reduce(torch.add, ((2 * codes.float() - 1) * alphas[..., None]).unbind(dim=1))
        if self.bits <= PLANE_BITS:
            return sums
        levels, scale = coded_levels(codes, alphas.detach())
        weight = levels * scale[:, None]
        return sums + (weight - sums.detach()) if alphas.requires_grad else weight

    def learnable_parameters(self, parameters: Parameters) -> Tensor:
        """Return the factors, float32 [rows, bits]."""
        return parameters["alphas"]

    def parameters_from(self, learnable: Tensor) -> Parameters:
        """Return the alphas of trained factors, floats [rows, bits].

        Through `decode`, the gradient of a factor is the sum over the weights of its row, each with the sign of its
        code.
        """
        rounded = bfloat16_nearest(learnable.detach())
        return {"alphas": learnable + (rounded - learnable.detach()) if learnable.requires_grad else rounded}


def binary_levels(alphas: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sums of binary codes as whole numbers: a lookup table of levels for each row.

    Args:
        alphas: float32 [rows, bits].

    Returns:
        levels: whole numbers in [-127, 127] as float32 [rows, 2^bits]. The level of code c is the sum of +alpha_i if
            bit i of c is set and -alpha_i if it is not, divided by the scale.
        scale: float32 [rows], sum_i |alpha_i| / 127. A row whose alphas add up to less than 1e-35 is zero.
    """
    signs = _signs_of_codes(alphas)
    greatest = reduce(torch.add, alphas.abs().unbind(dim=1))
    sums = reduce(torch.add, (alphas[:, None, :] * signs).unbind(dim=2))
    scale = torch.where(greatest < _LEAST_SUM, 0.0, greatest / 127)
    return torch.where(scale[:, None] > 0, (sums / scale[:, None]).round(), 0.0), scale


def coded_levels(planes: Tensor, alphas: Tensor) -> tuple[Tensor, Tensor]:
    """Return the levels of codes, float32 [rows, columns], and their scale, float32 [rows].

    Args:
        planes: codes as planes of 0 and 1, [rows, bits, columns].
        alphas: float32 [rows, bits].
    """
    levels, scale = binary_levels(alphas)
    shifts = torch.arange(planes.shape[1], device=planes.device)
    return levels.gather(1, (planes.long() << shifts[:, None]).sum(dim=1)), scale


def _greedy_alphas(weight: Tensor, bits: int) -> Tensor:
    """Return greedy factors (Guo et al. 2017), float32 [rows, bits]: the mean magnitude of each residual."""
    rest = weight
    alphas = []
    for _ in range(bits):
        # Rounded here, so that the next factor reduces the error of rounding.
        alpha = bfloat16_nearest(rest.abs().mean(dim=1))
        rest = rest - _signs(rest) * alpha.double()[:, None]
        alphas.append(alpha)
    return torch.stack(alphas, dim=1)


def _greedy_bits(weight: Tensor, alphas: Tensor) -> Tensor:
    rest = weight
    codes = []
    for alpha in alphas.unbind(dim=1):
        # A trained factor may be negative: subtracting it then reduces a positive residual.
        bits = torch.where(alpha[:, None] < 0, rest < 0, rest >= 0)
        rest = rest - (2 * bits.double() - 1) * alpha[:, None]
        codes.append(bits)
    return torch.stack(codes, dim=1).to(torch.uint8)


def _alternating_alphas(weight: Tensor, greedy: Tensor) -> Tensor:
    """Return the factors of Xu et al. (2018), Algorithm 2, started from greedy ones; float32 [rows, bits]."""
    alphas = greedy.double()
    moving = torch.arange(len(weight), device=weight.device)  # the rows that still change
    codes = _nearest_bits(weight, alphas)
    for _ in range(_MOST_ROUNDS):
        alphas[moving] = _least_squares_alphas(weight[moving], codes)
        better = _nearest_bits(weight[moving], alphas[moving])
        changed = (better != codes).flatten(1).any(dim=1)
        moving, codes = moving[changed], better[changed]
        if not len(moving):
            break
    return _best_rounded(weight, greedy, alphas)


def _best_rounded(weight: Tensor, greedy: Tensor, alphas: Tensor) -> Tensor:
    """Round factors to bfloat16, and go on alternating from there; each row takes its best rounded factors."""
    best, least = greedy, _squared_error(weight, greedy)
    moving = torch.arange(len(weight), device=weight.device)  # the rows that still improve
    for _ in range(_MOST_ROUNDED_ROUNDS):
        # Order and signs of the factors do not change the set of their sums.
        rounded = bfloat16_nearest(alphas.abs().sort(dim=1, descending=True).values)
        error = _squared_error(weight[moving], rounded)
        gains = error < least[moving]
        best[moving[gains]], least[moving[gains]] = rounded[gains], error[gains]
        moving = moving[gains]
        if not len(moving):
            break
        alphas = _least_squares_alphas(weight[moving], _nearest_bits(weight[moving], best[moving].double()))
    return best


def _least_squares_alphas(weight: Tensor, codes: Tensor) -> Tensor:
    """Return (B^T B)^-1 B^T w of each row, float64 [rows, bits]; equal planes share a factor in equal parts."""
    signs = 2 * codes.double() - 1
    gram = signs @ signs.transpose(1, 2)
    inverse: Tensor = torch.linalg.pinv(gram, hermitian=True)
    return (inverse @ (signs @ weight[..., None])).squeeze(-1)


def _nearest_bits(weight: Tensor, alphas: Tensor) -> Tensor:
    """Return the codes of the nearest of the 2^bits sums of each row, as planes; ties go to the lower sum."""
    return _bits_of_codes(nearest_codes(weight, alphas @ _signs_of_codes(alphas).T), alphas.shape[1])


def _signs_of_codes(alphas: Tensor) -> Tensor:
    """Return the sign of each factor in each code, 1 if its bit is set, else -1: [codes, bits]."""
    shifts = torch.arange(alphas.shape[1], device=alphas.device)
    bits = torch.arange(2 ** len(shifts), device=alphas.device)[:, None] >> shifts & 1
    return 2 * bits.to(alphas.dtype) - 1


def _bits_of_codes(codes: Tensor, bits: int) -> Tensor:
    """Return bit i of each code as plane i: uint8 [rows, columns] -> uint8 [rows, bits, columns]."""
    shifts = torch.arange(bits, dtype=torch.uint8, device=codes.device)
    return codes[:, None, :] >> shifts[:, None] & 1


def _squared_error(weight: Tensor, alphas: Tensor) -> Tensor:
    """Return the squared error of each row with its nearest codes, float64 [rows], for rounded factors."""
    sums = _decoded_sums(alphas)
    return (weight - sums.gather(1, nearest_codes(weight, sums).long())).square().sum(dim=1)


def _decoded_sums(alphas: Tensor) -> Tensor:
    """Return the decoded value of each code of each row, float64 [rows, 2^bits], for float32 factors [rows, bits]."""
    if alphas.shape[1] <= PLANE_BITS:
        return alphas.double() @ _signs_of_codes(alphas).double().T
    levels, scale = binary_levels(alphas)
    return (levels * scale[:, None]).double()


def _signs(values: Tensor) -> Tensor:
    return torch.where(values >= 0, 1.0, -1.0).to(values.dtype)
