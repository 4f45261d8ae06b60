"""Every test of a kernel runs once for each instruction set; the vocabulary is that of the engine's tests."""

import pytest

from pocketmt.engine import _native_testing as native
from tests.engine.conftest import vocabulary
from tests.native.arrays import INSTRUCTION_SETS

__all__ = ["instruction_set", "vocabulary"]


@pytest.fixture(scope="session", params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest) -> str:
    """The name of an instruction set whose kernels this CPU can run."""
    name: str = request.param
    if name not in native.instruction_sets() and f"emulated_{name}" in native.emulated_instruction_sets():
        name = f"emulated_{name}"
    elif name not in native.instruction_sets():
        pytest.skip(f"this CPU lacks {name}")
    return name
