"""Every test of a kernel runs once for each instruction set."""

import platform

import pytest

from pocketmt.engine import _native_testing as native

INSTRUCTION_SETS = (
    "portable",
    *(("neon_dot_product",) if platform.machine() == "aarch64" else ("avx2", "avx512_vnni")),
)


@pytest.fixture(scope="session", params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest) -> str:
    """The name of one that this CPU has."""
    name: str = request.param
    if name not in native.instruction_sets():
        pytest.skip(f"this CPU lacks {name}")
    return name
