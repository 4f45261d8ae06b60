"""The choice of kernels, and the check that they pass before they are used."""

import subprocess
import sys

import numpy as np
import pytest

from pocketmt.engine import _native
from pocketmt.engine import _native_testing as native

# The rows of the check's block, and of that of AMX, which multiplies 16 or 32 of them at once.
CHECKED_ROWS = 15
TILE_CHECKED_ROWS = 35


def test_the_engine_offers_the_sets_that_are_tested_here() -> None:
    assert native.instruction_sets() == _native.instruction_sets()
    assert native.instruction_sets()[-1] == "portable"


@pytest.mark.parametrize("name", native.instruction_sets())
def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("POCKETMT_INSTRUCTION_SET", name)
    assert native.best_instruction_set() == name


@pytest.mark.parametrize("empty", [False, True])
def test_the_fastest_is_taken(monkeypatch: pytest.MonkeyPatch, empty: bool) -> None:
    monkeypatch.delenv("POCKETMT_INSTRUCTION_SET", raising=False)
    if empty:
        monkeypatch.setenv("POCKETMT_INSTRUCTION_SET", "")
    assert native.best_instruction_set() == native.instruction_sets()[0]


def test_an_unknown_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="'mmx'"):
        native.log_sum_exp("mmx", np.zeros(1, np.float32))
    monkeypatch.setenv("POCKETMT_INSTRUCTION_SET", "mmx")
    with pytest.raises(RuntimeError, match=r"POCKETMT_INSTRUCTION_SET: there is no instruction set 'mmx'.*portable"):
        native.best_instruction_set()


@pytest.mark.parametrize(
    "name",
    sorted(
        {"amx_int8", "avx512_vnni", "avx_vnni", "avx2", "neon_dot_product", "neon_i8mm"} - {*native.instruction_sets()}
    ),
)
def test_an_instruction_set_that_this_cpu_lacks(name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"does not offer {name}.*portable"):
        native.log_sum_exp(name, np.zeros(1, np.float32))


# An alternate stack for signals that has no room for the tile registers, and then the instruction sets.
WITH_A_SMALL_SIGNAL_STACK = """
import ctypes

class Stack(ctypes.Structure):
    _fields_ = [("place", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

memory = ctypes.create_string_buffer(4096)
stack = Stack(ctypes.cast(memory, ctypes.c_void_p), 0, len(memory))
assert ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None) == 0
from pocketmt.engine import _native
print(*_native.instruction_sets())
"""


@pytest.mark.skipif("amx_int8" not in native.instruction_sets(), reason="this processor has no AMX")
def test_the_tile_registers_are_left_alone_if_linux_refuses_them() -> None:
    ran = subprocess.run([sys.executable, "-c", WITH_A_SMALL_SIGNAL_STACK], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [name for name in native.instruction_sets() if name != "amx_int8"]


@pytest.mark.skipif("amx_int8" not in native.instruction_sets(), reason="this processor has no AMX")
def test_naming_another_instruction_set_leaves_the_tile_registers_alone() -> None:
    """A process with tile registers needs more room for signals on an alternate stack: 4 KiB are refused then."""
    program = "from pocketmt.engine import Translator\nTranslator('captions-en-de', instruction_set='portable')\n"
    command = [sys.executable, "-c", program + WITH_A_SMALL_SIGNAL_STACK]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_kernels_pass_their_check(instruction_set: str) -> None:
    native.check_kernels(instruction_set)


@pytest.mark.parametrize(
    ("kernel", "count", "name"),
    [
        ("fp32 product", CHECKED_ROWS, "fp32 product"),
        ("8-bit product", CHECKED_ROWS, "8-bit product"),
        ("6-bit product", CHECKED_ROWS, "6-bit product"),
        ("6-bit product", 1, "6-bit product"),
        ("lookup table product", CHECKED_ROWS, "lookup table product"),
        ("lookup table product", 1, "lookup table product"),
        ("row lookup table product", CHECKED_ROWS, "row lookup table product"),
        ("row lookup table product", 1, "row lookup table product"),
        ("binary code product", CHECKED_ROWS, "binary code product"),
        ("binary code product", 1, "binary code product"),
        ("fp32 product gather", CHECKED_ROWS, "fp32 product"),
        ("6-bit product gather", CHECKED_ROWS, "6-bit product"),
        ("quantize_rows", CHECKED_ROWS, "activation quantization"),
        ("quantize_rows_static", CHECKED_ROWS, "activation quantization at a given scale"),
        ("quantize_rows_logarithmic", CHECKED_ROWS, "activation log quantization"),
    ],
)
def test_a_wrong_kernel_is_named(instruction_set: str, kernel: str, count: int, name: str) -> None:
    if instruction_set == "amx_int8" and name.startswith("activation"):
        count = TILE_CHECKED_ROWS
    message = f"the {name} kernel of instruction set {instruction_set} disagrees.*POCKETMT_INSTRUCTION_SET=portable"
    with pytest.raises(RuntimeError, match=message):
        native.check_wrong_kernel(instruction_set, kernel, count)


@pytest.mark.skipif("amx_int8" not in native.instruction_sets(), reason="this processor has no AMX")
@pytest.mark.parametrize("kernel", ["8-bit", "6-bit", "lookup table", "row lookup table", "binary code"])
def test_a_wrong_product_in_tiles_is_named(kernel: str) -> None:
    with pytest.raises(RuntimeError, match=rf"the {kernel} product kernel of instruction set amx_int8 disagrees"):
        native.check_wrong_kernel("amx_int8", f"{kernel} product", TILE_CHECKED_ROWS)
