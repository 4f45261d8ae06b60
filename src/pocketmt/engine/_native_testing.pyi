"""Single kernels (native/testing/), in developers' builds alone.

The first argument is an instruction set's name: ValueError where there is none of this name, RuntimeError where the CPU
lacks it. ValueError where shapes do not fit. Arrays end where memory that cannot be read begins; RuntimeError where a
kernel wrote before its results or into the `gap` elements between their rows, which hold NaN as those between rows of
inputs do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.uint32]

most_integer_columns: int

def instruction_sets() -> list[str]:
    """Names of the instruction sets that this CPU can run, fastest first."""

def emulated_instruction_sets() -> list[str]:
    """Names of kernels that this CPU can run in the encoding of another instruction set."""

def best_instruction_set() -> str:
    """The one that the engine takes, or that POCKETMT_INSTRUCTION_SET names; RuntimeError where it cannot be had."""

def check_kernels(instruction_set: str) -> None:
    """The check that runs at load; RuntimeError naming the kernel that is wrong."""

def check_wrong_kernel(instruction_set: str, kernel: str, count: int) -> None:
    """check_kernels, where one output or code of `kernel` is wrong whenever it is given `count` rows.

    Kernels: the name of a product as the check names it, the same with " gather", quantize_rows, quantize_rows_static
    and quantize_rows_logarithmic.
    """

class Matrix:
    """Packed weights [rows, columns] of one family."""

    def row(self, index: int) -> Floats:
        """Return one row of weights as floats [columns]."""

    def gather(self, indices: Indices) -> Matrix:
        """Return a matrix of some rows, copied from the packed ones."""

    def multiply_floats(
        self, activations: Floats, bias: Floats | None = None, relu: bool = False, gap: int = 0
    ) -> Floats:
        """Return products [count, rows] of fp32 weights and activations [count, columns]; bias [rows]."""

    def multiply(
        self,
        codes: NDArray[np.int8],
        scales: Floats,
        bias: Floats | None = None,
        relu: bool = False,
        gap: int = 0,
        offsets: Floats | None = None,
    ) -> Floats:
        """Return products [count, rows] of quantized weights and activations codes [count, columns], scales [count].

        bias and offsets: [rows].
        """

def float_matrix(instruction_set: str, weights: Floats) -> Matrix:
    """Pack fp32 weights [rows, columns]."""

def integer_matrix(instruction_set: str, weights: NDArray[np.int8], scales: Floats) -> Matrix:
    """Pack 8-bit weights [rows, columns] with scales [rows]."""

def six_bit_matrix(instruction_set: str, weights: NDArray[np.int8], scales: Floats) -> Matrix:
    """Pack 6-bit weights [rows, columns], from -32 to 31, with scales [rows]."""

def lookup_table_matrix(
    instruction_set: str, codes: NDArray[np.uint8], scales: Floats, levels: NDArray[np.int8], columns: int
) -> Matrix:
    """Pack 4-bit codes [rows, (columns + 1) / 2], low nibble first, with scales [rows] and levels [16]."""

def row_lookup_table_matrix(
    instruction_set: str, codes: NDArray[np.uint8], scales: Floats, levels: NDArray[np.int8], columns: int
) -> Matrix:
    """Pack 4-bit codes as `lookup_table_matrix` does, with levels for each row, [rows, 16]."""

def binary_code_matrix(instruction_set: str, planes: NDArray[np.uint8], alphas: Floats, columns: int) -> Matrix:
    """Pack binary codes: planes [rows, 1 or 2 bits, (columns + 7) / 8], lowest bit first, and alphas [rows, bits]."""

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
    epsilon: float = 1e-5,
) -> tuple[Floats | None, Floats]:
    """x + residual where sum_place is given, and the normalized rows. Places: own, x, residual."""

def scale_add(instruction_set: str, x: Floats, factor: float, y: Floats) -> Floats:
    """x * factor + y."""

def swish(instruction_set: str, x: Floats) -> Floats:
    """x * sigmoid(x)."""

def gelu(instruction_set: str, x: Floats) -> Floats:
    """x * (1 + erf(x / sqrt(2))) / 2."""

def gelu_tanh(instruction_set: str, x: Floats) -> Floats:
    """x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2."""

def gelu_sigmoid(instruction_set: str, x: Floats) -> Floats:
    """x * sigmoid(1.702 x)."""

def transpose_keys(instruction_set: str, keys: Floats, heads: int, gap: int = 0) -> Floats:
    """[positions, width] -> [heads, head size, positions rounded up to 16]."""

def attend(instruction_set: str, queries: Floats, keys: Floats, values: Floats, gap: int = 0) -> Floats:
    """queries [count, width], keys as transpose_keys makes them, values [positions, width] -> [count, width]."""

def attend_cache(
    instruction_set: str, query: Floats, keys: Floats, values: Floats, rows: Sequence[int], heads: int
) -> Floats:
    """query [width]; keys, values [any, width], of which `rows` are the positions -> [width]."""

def recurrent_unit(
    instruction_set: str, projected: Floats, forget_bias: Floats, cell_before: Floats | None
) -> tuple[Floats, Floats]:
    """projected [2 size], the others [size] -> cell and output [size]."""

def running_mean(instruction_set: str, x: Floats, before: Floats | None, count: int) -> Floats:
    """(before * count + x) / (count + 1)."""

def gated_sum(instruction_set: str, x_gate: Floats, x: Floats, y_gate: Floats, y: Floats) -> Floats:
    """sigmoid(x_gate) * x + sigmoid(y_gate) * y."""

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
    families: Sequence[tuple[str, int, bool]],
    rows: int,
    columns: int,
    count: int,
    copies: int,
    rounds: int,
) -> list[list[float]]:
    """Seconds of a product of `count` rows, for each family and round, the families in turn.

    Families: integer, six_bit, lookup_table, row_lookup_table and binary_code, with the bits of binary codes, and
    whether the activations are as after relu, that is not negative.
    A round multiplies with each of `copies` matrices [rows, columns].
    """

def packed_bytes(instruction_set: str, family: str, bits: int, rows: int, columns: int) -> int:
    """Bytes of a matrix [rows, columns] of a family of `time_products`, as the product reads it."""

def time_multiply_adds(instruction_set: str, type: str, rounds: int) -> list[float]:
    """Seconds of a multiply-add of registers, of int8 or float32, for each round: the most that a core can do."""

def time_reads(instruction_set: str, bytes: int, rounds: int) -> list[float]:
    """Seconds a byte of reading memory of that size again and again, for each round; as `time_multiply_adds`."""

def time_operations(instruction_set: str, operation: str, rounds: int) -> list[float]:
    """Seconds of one operation in a lane of registers, for each round; as `time_multiply_adds`.

    Operations: simple, the mean of an addition and a multiplication of float32, not fused, and division.
    """

def time_writes(instruction_set: str, bytes: int, rounds: int) -> list[float]:
    """Seconds a byte of writing memory of that size again and again, for each round; as `time_multiply_adds`."""

def time_between_products(
    instruction_set: str,
    function: str,
    rows: int,
    columns: int,
    positions: int,
    heads: int,
    copies: int,
    rounds: int,
) -> list[float]:
    """Seconds of a vector function for `rows` rows of `columns` elements, for each round.

    Functions of attention and transpose_keys compute rows for `rows` sentences of `positions` keys and values;
    `copies` of those are taken in turn. top_k and log_sum_exp search `columns` logits, in slices. embed looks up rows
    of 8-bit weights, scales them and adds positions.
    """

QuantizationParameters = tuple[Floats, Floats, Floats, float]  # offsets, scales, inverses, half

def fake_quantize(instruction_set: str, parameters: QuantizationParameters | None, x: Floats) -> Floats:
    """Return rows [count, columns], each element replaced by the nearest value that has a code."""

def quantize(
    instruction_set: str, parameters: QuantizationParameters | None, x: Floats, stride: int, gap: int = 0
) -> NDArray[np.int8]:
    """Return codes [count, stride] of rows [count, columns]."""

def quantized_layer_norm(
    instruction_set: str,
    quantization: list[QuantizationParameters | None],
    x: Floats,
    residual: Floats | None,
    gamma: Floats,
    beta: Floats,
    in_place: bool = False,
    epsilon: float = 1e-5,
) -> Floats:
    """Return LN(x + residual); `quantization` has the parameters of numerator, denominator, quotient and output."""

def attend_codes(
    instruction_set: str,
    quantization: list[QuantizationParameters | None],
    query: Floats,
    keys: NDArray[np.int8],
    values: NDArray[np.int8],
    rows: list[int],
    heads: int,
) -> Floats:
    """Return the attention of one query to codes of keys and values, of which `rows` are the positions.

    `quantization` has the parameters of query, key, value, and of the numerator and output of the softmax.
    """

class ThreadPool:
    """Threads that share the parts of a task with the calling thread."""

    def __init__(self, workers: int) -> None: ...
    def run(self, parts: int, failing: int | None = None) -> list[int]:
        """Return how often each part was run; RuntimeError saying "part N failed" for the part that is to fail."""

    def processor_seconds_of_waiting(self, seconds: float) -> float:
        """Return the processor time of a caller that waits while a worker sleeps for `seconds` in its part."""
