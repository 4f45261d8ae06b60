"""Code that is compiled for an instruction set stays apart: the linker must not choose it for another one."""

import shutil
import subprocess
from pathlib import Path

import pytest

OBJECTS = Path(__file__).resolve().parents[2] / "build" / "editable" / "CMakeFiles"
FOLDERS = sorted(OBJECTS.glob("pocketmt_kernels_*.dir"))

pytestmark = pytest.mark.skipif(
    not FOLDERS or shutil.which("nm") is None, reason="no object files of an editable install, or no nm"
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.stem)
def test_an_instruction_set_defines_symbols_in_its_own_namespace_only(folder: Path) -> None:
    name = folder.stem.removeprefix("pocketmt_kernels_")
    command = ["nm", "--defined-only", "--extern-only", "--demangle", *map(str, folder.rglob("*.o"))]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = {line.split(maxsplit=2)[2] for line in lines if len(line.split(maxsplit=2)) == 3}
    shared = {symbol for symbol in symbols if not symbol.startswith((f"pocketmt::{name}::", "DW.ref."))}
    assert f"pocketmt::{name}::kernels" in symbols
    assert not shared


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.stem)
def test_loading_runs_no_code_of_an_instruction_set(folder: Path) -> None:
    command = ["nm", "--demangle", *map(str, folder.rglob("*.o"))]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "_GLOBAL__sub_I" not in symbols
    assert "__static_initialization" not in symbols
