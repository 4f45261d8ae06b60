"""Draws the figures of docs/speed.md and docs/kernels.md from benchmarks/records/; equal records give equal files.

python -m benchmarks.pictures
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from benchmarks.pictures.kernels import draw_kernels
from benchmarks.pictures.peers import draw_base, draw_students
from benchmarks.record_files import read_record
from pocketmt.errors import PocketMTError

ROOT = Path(__file__).resolve().parents[2]
# File -> the function that draws it, and the records that it needs.
PICTURES: Mapping[str, tuple[Callable[..., Figure], tuple[str, ...]]] = {
    "speed.svg": (draw_base, ("peer",)),
    "students.svg": (draw_students, ("peer-students", "peer-deep-students")),
    "kernels.svg": (draw_kernels, ("kernels",)),
}
STYLE = {
    "svg.hashsalt": "pocketmt",  # or the ids in an SVG would be random
    "svg.fonttype": "none",  # text as text, which halves the size
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
}


def draw(name: str, records: Path, folder: Path) -> None:
    """Draw one of `PICTURES` from a folder of records into another folder.

    Raises DataError if a record is missing, and ConfigurationError if it lacks data.
    """
    make, record_names = PICTURES[name]
    with style.context(["default", STYLE]):
        figure = make(*(read_record(records / f"{record}.json") for record in record_names))
        figure.savefig(folder / name, metadata={"Date": None, "Creator": None})


def main() -> int:
    """Draw all figures into docs/; return 1 if a record is missing or lacks data."""
    try:
        for name in PICTURES:
            draw(name, ROOT / "benchmarks" / "records", ROOT / "docs")
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
