"""Draws the pictures of docs/pictures from benchmarks/records; equal records give equal files.

python -m benchmarks.pictures
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.pictures.attention import draw_attention_weights
from benchmarks.pictures.kernels import draw_kernels
from benchmarks.pictures.overview import draw_overview
from benchmarks.pictures.peers import draw_base, draw_students
from benchmarks.pictures.sensitivity import draw_sensitivity
from benchmarks.pictures.sizes import draw_small, draw_tiny
from benchmarks.recipe_files import read_renamed_record
from pocketmt.atomic_file import atomic_write

# File -> the function that draws it, and the records that it needs.
PICTURES: Final[Mapping[str, tuple[Callable[..., str], tuple[str, ...]]]] = {
    "overview.svg": (draw_overview, ("everyday/compression", "peer")),
    "size.svg": (draw_small, ("multi30k/small",)),
    "size-tiny.svg": (draw_tiny, ("multi30k/compression",)),
    "speed.svg": (draw_base, ("peer",)),
    "students.svg": (draw_students, ("peer-students", "peer-deep-students")),
    "kernels.svg": (draw_kernels, ("kernels",)),
    "attention-cross.svg": (draw_attention_weights, ("attention-cross",)),
    "attention-encoder.svg": (draw_attention_weights, ("attention-encoder",)),
    "sensitivity.svg": (draw_sensitivity, ("multi30k/sensitivity",)),
}


def draw(name: str, records: Path, folder: Path) -> None:
    """Draw one of `PICTURES` from a folder of records into another folder.

    Raises DataError if a record is missing, and ConfigurationError if it lacks data.
    """
    make, record_names = PICTURES[name]
    picture = make(*(read_renamed_record(records / f"{record}.json") for record in record_names))
    with atomic_write(folder / name) as stream:
        stream.write(picture.encode())


def main(arguments: Sequence[str]) -> int:
    """Draw all pictures into docs/pictures; return the exit status."""
    argparse.ArgumentParser(description="Draw docs/pictures from benchmarks/records.").parse_args(arguments)
    folder = ROOT / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    for name in PICTURES:
        draw(name, ROOT / "benchmarks" / "records", folder)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
