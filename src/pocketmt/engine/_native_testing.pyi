"""Single kernels (native/testing/), in developers' builds alone.

The first argument is an instruction set's name: ValueError where there is none of this name, RuntimeError where the CPU
lacks it. ValueError where shapes do not fit. Arrays end where memory that cannot be read begins; RuntimeError where a
kernel wrote before its results or into the `gap` elements between their rows, which hold NaN as those between rows of
inputs do.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.uint32]

largest_integer_columns: int

def instruction_sets() -> list[str]:
    """Names of the instruction sets that this CPU can run, fastest first."""

def imitated_instruction_sets() -> list[str]:
    """Names of those whose kernels this CPU can run in the encoding of another one."""

def best_instruction_set() -> str:
    """The one that the engine takes, or that POCKETMT_INSTRUCTION_SET names; RuntimeError where it cannot be had."""

def check_kernels(instruction_set: str) -> None:
    """The check that runs at load; RuntimeError naming the kernel that is wrong."""

def check_wrong_kernel(instruction_set: str, kernel: str, count: int) -> None:
    """check_kernels, where one output or code of `kernel` is wrong whenever it is given `count` rows.

    Kernels: float_product, float_product.gather, integer_product, six_bit_product, six_bit_product.gather,
    level_table_product, bit_plane_product, quantize_rows, quantize_rows_static, quantize_rows_logarithmic.
    """

class FloatMatrix:
    """Packed fp32 weights [rows, columns]."""

    def __init__(self, instruction_set: str, weight: Floats) -> None: ...
    def row(self, index: int) -> Floats:
        """One row of weights, unpacked."""

    def gather(self, indices: Indices) -> FloatMatrix:
        """Rows of it as a matrix of their own, packed from the packed ones."""

    def multiply(self, activations: Floats, bias: Floats | None = None, relu: bool = False, gap: int = 0) -> Floats:
        """activations [count, columns] -> [count, rows]."""

class _QuantizedMatrix:
    def row(self, index: int) -> Floats:
        """One row of weights, decoded."""

    def gather(self, indices: Indices) -> Self:
        """Rows of it as a matrix of their own, packed from the packed ones."""

    def multiply(
        self,
        codes: NDArray[np.int8],
        scales: Floats,
        bias: Floats | None = None,
        relu: bool = False,
        gap: int = 0,
        offsets: Floats | None = None,
    ) -> Floats:
        """Activations codes [count, columns], scales [count] -> [count, rows]; bias and offsets: [rows]."""

class IntegerMatrix(_QuantizedMatrix):
    """Packed 8-bit weights: codes [rows, columns], scales [rows]."""

    def __init__(self, instruction_set: str, codes: NDArray[np.int8], scales: Floats) -> None: ...

class SixBitMatrix(_QuantizedMatrix):
    """Packed 6-bit weights: codes [rows, columns] in [-32, 31], scales [rows]."""

    def __init__(self, instruction_set: str, codes: NDArray[np.int8], scales: Floats) -> None: ...

class LevelTableMatrix(_QuantizedMatrix):
    """Packed 4-bit weights: codes [rows, (columns + 1) / 2], low nibble first, scales [rows], levels [16]."""

    def __init__(
        self,
        instruction_set: str,
        codes: NDArray[np.uint8],
        scales: Floats,
        levels: NDArray[np.int8],
        columns: int,
    ) -> None: ...

class RowTableMatrix(LevelTableMatrix):
    """Packed 4-bit weights: as those of `LevelTableMatrix`, with levels for each row, [rows, 16]."""

    def __init__(
        self,
        instruction_set: str,
        codes: NDArray[np.uint8],
        scales: Floats,
        levels: NDArray[np.int8],
        columns: int,
    ) -> None: ...

class BitPlaneMatrix:
    """Packed binary codes: planes [rows, 1 or 2 bits, (columns + 7) / 8], lowest bit first, alphas [rows, bits]."""

    def __init__(self, instruction_set: str, planes: NDArray[np.uint8], alphas: Floats, columns: int) -> None: ...
    def row(self, index: int) -> Floats:
        """One row of weights, decoded."""

    def gather(self, indices: Indices) -> BitPlaneMatrix:
        """Rows of it as a matrix of their own, packed from the packed ones."""

    def multiply(
        self,
        codes: NDArray[np.int8],
        scales: Floats,
        bias: Floats | None = None,
        relu: bool = False,
        gap: int = 0,
        offsets: Floats | None = None,
    ) -> Floats:
        """Activations codes [count, columns], scales [count] -> [count, rows]; bias and offsets: [rows]."""

class _Ways:
    def values(self, way: str) -> Floats:
        """Results by "fp32", "int8", "level_table" or "exponent_sum"."""

    def seconds(self, way: str, calls: int) -> float:
        """What some calls take together."""

class LogDotProducts(_Ways):
    """Dot products of vectors of 4-bit log codes [pairs, 128], sign << 3 | m for +-2^(7 - m); values [pairs]."""

    def __init__(self, instruction_set: str, a: NDArray[np.uint8], b: NDArray[np.uint8]) -> None: ...

class LogMatrixProducts(_Ways):
    """4-bit log codes [rows, columns], scales [rows], times such codes [1, columns] of one scale; values [rows]."""

    def __init__(
        self,
        instruction_set: str,
        weights: NDArray[np.uint8],
        scales: Floats,
        activations: NDArray[np.uint8],
        scale: float,
    ) -> None: ...

def quantize_rows(instruction_set: str, x: Floats, gap: int = 0) -> tuple[NDArray[np.int8], Floats]:
    """x [count, columns] -> codes [count, columns rounded up to 64], scales [count]."""

def quantize_rows_static(instruction_set: str, x: Floats, inverse: float, gap: int = 0) -> NDArray[np.int8]:
    """x [count, columns] -> codes [count, columns rounded up to 64]."""

def quantize_rows_logarithmic(
    instruction_set: str, x: Floats, top: float, scale: float, gap: int = 0
) -> tuple[NDArray[np.int8], Floats]:
    """x [count, columns] -> levels [count, columns rounded up to 64], scales [count]."""

def layer_norm(
    instruction_set: str,
    x: Floats,
    residual: Floats | None,
    gamma: Floats,
    beta: Floats,
    sum_place: str | None = None,
    out_place: str = "own",
) -> tuple[Floats | None, Floats]:
    """x + residual where sum_place is given, and the normalized rows. Places: own, x, residual."""

def add(instruction_set: str, x: Floats, y: Floats) -> Floats:
    """y + x."""

def scale_add(instruction_set: str, x: Floats, factor: float, y: Floats) -> Floats:
    """x * factor + y."""

def transpose_keys(instruction_set: str, keys: Floats, heads: int, gap: int = 0) -> Floats:
    """[positions, width] -> [heads, head size, positions rounded up to 16]."""

def attend_memory(instruction_set: str, queries: Floats, keys: Floats, values: Floats, gap: int = 0) -> Floats:
    """queries [count, width], keys as transpose_keys makes them, values [positions, width] -> [count, width]."""

def attend_cache(
    instruction_set: str, query: Floats, keys: Floats, values: Floats, rows: Sequence[int], heads: int
) -> Floats:
    """query [width]; keys, values [any, width], of which `rows` are the positions -> [width]."""

def recurrent_unit(
    instruction_set: str, projected: Floats, forget_bias: Floats, cell_before: Floats | None
) -> tuple[Floats, Floats]:
    """projected [2 size], the others [size] -> cell and output [size]."""

def lstm_unit(
    instruction_set: str, given: Floats, recurrent: Floats | None, cell_before: Floats | None
) -> tuple[Floats, Floats]:
    """given and recurrent [4 size], cell_before [size] -> cell and hidden state [size]."""

def log_sum_exp(instruction_set: str, x: Floats) -> float:
    """log(sum(exp(x)))."""

def top_k(instruction_set: str, x: Floats, k: int, slice: int) -> tuple[NDArray[np.uint32], Floats]:
    """Indices and values of the k greatest that are above -inf, found in slices; values of what there is not: -inf."""

def time_products(
    instruction_set: str,
    families: Sequence[tuple[str, int]],
    rows: int,
    columns: int,
    count: int,
    copies: int,
    rounds: int,
) -> list[list[float]]:
    """Seconds of a product of `count` rows, for each family and round, the families in turn.

    Families: integer, six_bit, level_table, bit_planes, with the bits of planes. A round multiplies with each of
    `copies` matrices [rows, columns].
    """

def packed_bytes(instruction_set: str, family: str, bits: int, rows: int, columns: int) -> int:
    """Bytes of a matrix [rows, columns] of a family of `time_products`, as the product reads it."""

def time_multiply_adds(instruction_set: str, type: str, rounds: int) -> list[float]:
    """Seconds of a multiply-add of registers, of int8 or float32, for each round: the most that a core can do.

    ValueError where the instruction set is neither avx2 nor avx512_vnni.
    """

def time_reads(instruction_set: str, bytes: int, rounds: int) -> list[float]:
    """Seconds a byte of reading memory of that size again and again, for each round; as `time_multiply_adds`."""

Grid = tuple[Floats, Floats, Floats, float]  # offsets, scales, inverses, half

def snap(instruction_set: str, grid: Grid | None, x: Floats) -> Floats:
    """Rows [count, columns] on a grid."""

def grid_codes(instruction_set: str, grid: Grid | None, x: Floats, stride: int, gap: int = 0) -> NDArray[np.int8]:
    """Codes [count, stride] of rows [count, columns]."""

def grid_norm(
    instruction_set: str,
    grids: list[Grid | None],
    x: Floats,
    residual: Floats | None,
    gamma: Floats,
    beta: Floats,
    in_place: bool = False,
) -> Floats:
    """LN(x + residual) with numerator, denominator, quotient and output on their grids."""

def attend_codes(
    instruction_set: str,
    grids: list[Grid | None],
    query: Floats,
    keys: NDArray[np.int8],
    values: NDArray[np.int8],
    rows: list[int],
    heads: int,
) -> Floats:
    """One query over codes of keys and values, of which `rows` are the positions; grids: of query, key, value,
    numerator and weight."""

class Crew:
    """Threads that help the one that runs something; `members` of them."""

    def __init__(self, members: int) -> None: ...
    def run(self, parts: int, failing: int | None = None) -> list[int]:
        """Count how often each part was done; RuntimeError saying "part N failed" where one is to fail."""
