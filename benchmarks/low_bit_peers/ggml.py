"""ggml's product of a matrix of few bits and one vector, by its C API."""

import ctypes
import time
from collections.abc import Callable
from ctypes import c_bool, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import ConfigurationError

FLOAT32: Final = 0  # GGML_TYPE_F32
# Numbers of ggml's types, which model files contain; by bits.
TYPES: Final = {
    "q8_0": 8,
    "q4_0": 2,
    "q4_K": 12,
    "q3_K": 11,
    "q2_K": 10,
    "q2_0": 42,
    "tq2_0": 35,
    "tq1_0": 34,
    "q1_0": 41,
}
PRODUCTS: Final = 32  # at least, of one call, so that the time of the call itself hardly counts
OVERHEAD: Final = 4096  # bytes for a tensor's description, more than it needs
# Functions that tell whether the library is compiled for an instruction set, the best first -> its name.
INSTRUCTION_SETS: Final = {
    "ggml_cpu_has_avx512_vnni": "avx512_vnni",
    "ggml_cpu_has_avx512": "avx512f",
    "ggml_cpu_has_avx_vnni": "avx_vnni",
    "ggml_cpu_has_avx2": "avx2",
}
REPACKED: Final = "CPU_REPACK"  # the name of buffers whose weights are laid out for this processor


class _Parameters(ctypes.Structure):
    _fields_ = [("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool)]


class Ggml:
    """The library, with the functions that a product needs."""

    def __init__(self, folder: Path) -> None:
        """Load libggml-base and libggml-cpu of a folder; ConfigurationError if they are not there."""
        try:
            self.base = ctypes.CDLL(str(folder / "libggml-base.so"), ctypes.RTLD_GLOBAL)
            self.cpu = ctypes.CDLL(str(folder / "libggml-cpu.so"))
        except OSError as error:
            raise ConfigurationError(f"{folder}: ggml is not there ({error}): run `make ggml`") from error
        self._log = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)(lambda *_: None)  # It tells of each matrix.
        self.base.ggml_log_set(self._log, None)
        self.version = self._text("ggml_version")
        compiled = (name for function, name in INSTRUCTION_SETS.items() if getattr(self.cpu, function)())
        self.instruction_set = next(compiled, None)  # the best that it is compiled for; None: none of these
        self.backend = self.call(self.cpu.ggml_backend_cpu_init)
        self.cpu.ggml_backend_cpu_set_n_threads(c_void_p(self.backend), c_int(1))
        self.plain = self.call(self.base.ggml_backend_cpu_buffer_type)
        self.repacked = self._repacked_buffers()

    def type(self, name: str) -> int:
        """Return the number of a type; ConfigurationError if this version gives the number to another type."""
        found = self._text("ggml_type_name", c_int(TYPES[name]))
        if found != name:
            raise ConfigurationError(f"ggml {self.version}: type {TYPES[name]} is {found!r}, not {name!r}")
        return TYPES[name]

    def row_bytes(self, type: int, inputs: int) -> int:
        """Return the bytes of a row of a matrix."""
        self.base.ggml_row_size.restype = c_size_t
        return int(self.base.ggml_row_size(c_int(type), c_int64(inputs)))

    def quantized(self, type: int, weights: "ctypes.Array[c_float]", outputs: int, inputs: int) -> bytes:
        """Return weights [outputs, inputs] in a type."""
        result = ctypes.create_string_buffer(outputs * self.row_bytes(type, inputs))
        rows = (c_int64(0), c_int64(outputs), c_int64(inputs))
        self.base.ggml_quantize_chunk(c_int(type), weights, result, *rows, None)
        return result.raw

    def _text(self, function: str, *arguments: object) -> str:
        call = getattr(self.base, function)
        call.restype = c_char_p
        return (call(*arguments) or b"").decode()

    def _repacked_buffers(self) -> int | None:
        """Return the kind of buffers in which weights are laid out for this processor, if the library has it."""
        registry = c_void_p(self.call(self.cpu.ggml_backend_cpu_reg))
        found = self.call(self.base.ggml_backend_reg_get_proc_address, registry, b"ggml_backend_dev_get_extra_bufts")
        device = c_void_p(self.call(self.base.ggml_backend_reg_dev_get, registry, c_size_t(0)))
        kinds = ctypes.CFUNCTYPE(ctypes.POINTER(c_void_p), c_void_p)(found)(device)
        index = 0
        while kinds and (kind := kinds[index]):
            if self._text("ggml_backend_buft_name", c_void_p(kind)) == REPACKED:
                return int(kind)
            index += 1
        return None

    @staticmethod
    def call(function: Any, *arguments: object) -> int:
        """Return the pointer that a function returns; ConfigurationError for NULL."""
        function.restype = c_void_p
        result = function(*arguments)
        if not result:
            raise ConfigurationError(f"ggml: {function.__name__} failed")
        return int(result)

    def context(self, tensors: int) -> c_void_p:
        """Return a context for descriptions of tensors, whose values lie in buffers."""
        self.base.ggml_init.argtypes = [_Parameters]
        return c_void_p(self.call(self.base.ggml_init, _Parameters((tensors + 1) * OVERHEAD, None, True)))

    def tensor(self, context: c_void_p, type: int, inputs: int, outputs: int) -> c_void_p:
        """Return a matrix [outputs, inputs] without values."""
        shape = (c_int64(inputs), c_int64(outputs))
        return c_void_p(self.call(self.base.ggml_new_tensor_2d, context, c_int(type), *shape))

    def allocate(self, context: c_void_p, kind: int) -> Callable[[], None]:
        """Give the tensors of a context values in one buffer; returns the function that frees both."""
        buffer = c_void_p(self.call(self.base.ggml_backend_alloc_ctx_tensors_from_buft, context, c_void_p(kind)))

        def free() -> None:
            self.base.ggml_backend_buffer_free(buffer)
            self.base.ggml_free(context)

        return free

    def set(self, tensor: c_void_p, values: bytes) -> None:
        """Set all values of a tensor, laid out as its buffer has them."""
        self.base.ggml_backend_tensor_set(tensor, values, c_size_t(0), c_size_t(len(values)))


class Products:
    """Products of copies of one matrix [outputs, inputs] and one vector; few copies are multiplied several times."""

    def __init__(self, ggml: Ggml, type: int, shape: tuple[int, int], copies: int, kind: int) -> None:
        """Make the products of copies in a buffer of a kind (`Ggml.plain`, `Ggml.repacked`), without weights."""
        outputs, inputs = shape
        self.ggml, self.outputs = ggml, outputs
        repeats = -(-PRODUCTS // copies)
        matrices, others = ggml.context(copies), ggml.context(3 * repeats * copies)
        self.matrices = [ggml.tensor(matrices, type, inputs, outputs) for _ in range(copies)]
        self._free = [ggml.allocate(matrices, kind)]
        self.vector = ggml.tensor(others, FLOAT32, inputs, 1)
        multiply = ggml.base.ggml_mul_mat
        self.results = [
            c_void_p(ggml.call(multiply, others, matrix, self.vector)) for matrix in self.matrices * repeats
        ]
        nodes = c_size_t(2 * len(self.results))
        self.graph = c_void_p(ggml.call(ggml.base.ggml_new_graph_custom, others, nodes, c_bool(False)))
        for result in self.results:
            ggml.base.ggml_build_forward_expand(self.graph, result)
        self._free.append(ggml.allocate(others, ggml.plain))

    def supported(self) -> bool:
        """Return whether the library multiplies this type from such a buffer."""
        self.ggml.base.ggml_backend_supports_op.restype = c_bool
        return bool(self.ggml.base.ggml_backend_supports_op(c_void_p(self.ggml.backend), self.results[0]))

    def fill(self, weights: bytes) -> None:
        """Set every copy to weights that are quantized."""
        for matrix in self.matrices:
            self.ggml.set(matrix, weights)

    def multiply(self, vector: "ctypes.Array[c_float]") -> list[float]:
        """Return the product of the last copy and a vector [inputs]."""
        self.ggml.set(self.vector, bytes(vector))
        self._compute()
        values = (c_float * self.outputs)()
        size = c_size_t(ctypes.sizeof(values))
        self.ggml.base.ggml_backend_tensor_get(self.results[-1], values, c_size_t(0), size)
        return list(values)

    def seconds(self, rounds: int) -> list[float]:
        """Return the seconds of one product in each round, the mean over all copies in turn."""
        self._compute()
        found = []
        for _ in range(rounds):
            start = time.perf_counter()
            self._compute()
            found.append((time.perf_counter() - start) / len(self.results))
        return found

    def close(self) -> None:
        """Free the buffers."""
        for free in self._free:
            free()

    def _compute(self) -> None:
        status = self.ggml.base.ggml_backend_graph_compute(c_void_p(self.ggml.backend), self.graph)
        if status != 0:
            raise ConfigurationError(f"ggml: the product ended with status {status}")
