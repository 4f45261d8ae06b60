"""The steps before and after a product of integers: rows of activations to codes, and sums of codes to floats.

The numbers are those of `quantize_rows` and `lookup_table_product`, bit by bit: each operation is rounded by itself.
"""

from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

from pocketmt.quantization.activations.dynamic import HIGHEST_CODE, NEGLIGIBLE

_TILE: Final = 1024
_ROUNDER: Final = tl.constexpr(12582912.0)  # 1.5 * 2^23: a float32 that is added and subtracted leaves whole numbers.
_HIGHEST: Final = tl.constexpr(float(HIGHEST_CODE))
_NEGLIGIBLE: Final = tl.constexpr(NEGLIGIBLE)


def quantized_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize activations to 8 bits, as `quantize_rows` does.

    Args:
        x: float32, float16 or bfloat16 [rows, columns].

    Returns:
        codes: int8 [rows, columns].
        scale: float32 [rows].
    """
    x = x.contiguous()
    rows, columns = x.shape
    codes = torch.empty(rows, columns, dtype=torch.int8, device=x.device)
    scale = torch.empty(rows, dtype=torch.float32, device=x.device)
    _quantize[(rows,)](
        x, codes, scale, columns, tile=triton.next_power_of_2(columns), num_warps=4, enable_fp_fusion=False
    )
    return codes, scale


def scaled_sums(
    sums: Tensor, activation_scale: Tensor, scale: Tensor, bias: Tensor | None, dtype: torch.dtype
) -> Tensor:
    """Return sums * (activation scale * scale) + bias, in a float type [rows, outputs].

    Args:
        sums: of products of codes, int32 [rows, outputs], with adjacent numbers of a row.
        activation_scale: float32 [rows].
        scale: float32 [outputs].
        bias: float32 [outputs].
        dtype: of the result.
    """
    rows, outputs = sums.shape
    activation_scale, scale, biased = activation_scale.contiguous(), scale.contiguous(), bias is not None
    bias = scale if bias is None else bias.contiguous()
    result = torch.empty(rows, outputs, dtype=dtype, device=sums.device)
    _scale[(rows, triton.cdiv(outputs, _TILE))](
        *(sums, activation_scale, scale, bias, result, outputs, sums.stride(0)),
        biased=biased,
        tile=_TILE,
        num_warps=4,
        enable_fp_fusion=False,
    )
    return result


@triton.jit
def _quantize(x, codes, scale, columns, tile: tl.constexpr):
    """A program quantizes one row."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, tile)
    whole = column < columns
    given = tl.load(x + row * columns + column, mask=whole, other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(given), axis=0)
    zero = largest < _NEGLIGIBLE
    inverse = tl.where(zero, 0.0, tl.div_rn(_HIGHEST, tl.where(zero, 1.0, largest)))
    rounded = (given * inverse + _ROUNDER) - _ROUNDER
    tl.store(codes + row * columns + column, rounded.to(tl.int8), mask=whole)
    tl.store(scale + row, tl.where(zero, 0.0, tl.div_rn(largest, _HIGHEST)))


@triton.jit
def _scale(sums, activation_scale, scale, bias, result, outputs, stride, biased: tl.constexpr, tile: tl.constexpr):
    """A program scales some sums of one row."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * tile + tl.arange(0, tile)
    whole = column < outputs
    product = tl.load(sums + row * stride + column, mask=whole, other=0).to(tl.float32)
    product = product * (tl.load(activation_scale + row) * tl.load(scale + column, mask=whole, other=0.0))
    if biased:
        product = product + tl.load(bias + column, mask=whole, other=0.0)
    tl.store(result + row * outputs + column, product.to(result.dtype.element_ty), mask=whole)
