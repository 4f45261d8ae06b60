"""The layers of native/: files include files of the same folder and of lower layers, without cycles."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"
# From the bottom up. Folders of one layer do not include each other.
LAYERS = (
    ("kernels", "model/runtime"),
    ("model/description",),
    ("model/weights",),
    ("model/output",),
    ("model/layers",),
    ("model/transformer", "model/lstm"),
    ("model",),
    ("search",),
    ("python", "testing", "web"),
    ("probe",),
)
MOST_FILES = 20
GENERATED = {"instruction_sets.inc"}  # by CMakeLists.txt
FOLDERS = sorted((folder for layer in LAYERS for folder in layer), key=len, reverse=True)
FILES = sorted(path.relative_to(NATIVE) for path in NATIVE.rglob("*") if path.suffix in (".h", ".cpp"))
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def folder_of(path: Path) -> str:
    """The folder of `LAYERS` that holds a file."""
    return next(folder for folder in FOLDERS if path.is_relative_to(folder))


def height(folder: str) -> int:
    return next(index for index, layer in enumerate(LAYERS) if folder in layer)


def included(path: Path) -> list[Path]:
    """The files of native/ that a file includes; kernels and what is compiled with them find each other by folder."""
    found = []
    for name in set(_INCLUDE.findall((NATIVE / path).read_text(encoding="utf-8"))) - GENERATED:
        places = [Path(name), Path("kernels") / name, path.parent / name]
        existing = [place for place in places if (NATIVE / place).exists()]
        assert existing, f"{path} includes {name}, which is not in native/"
        found.append(existing[0])
    return found


INCLUDES = {path: included(path) for path in FILES}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_includes_lower_ones_only(folder: str) -> None:
    upward = [
        f"{path} includes {other}"
        for path, others in INCLUDES.items()
        if folder_of(path) == folder
        for other in others
        if folder_of(other) != folder and height(folder_of(other)) >= height(folder)
    ]
    assert not upward


def test_no_file_includes_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter(INCLUDES).prepare()
    except CycleError as error:
        pytest.fail(f"files that include each other: {error.args[1]}")


def test_every_folder_is_small_enough_to_read() -> None:
    sizes = {
        folder: sum(path.is_file() for path in folder.iterdir())
        for folder in (NATIVE, *(path for path in NATIVE.rglob("*") if path.is_dir()))
    }
    assert not {str(folder) for folder, files in sizes.items() if files > MOST_FILES}
