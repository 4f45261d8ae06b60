"""Where Multi30k lies (it is not part of the repository), and its sets."""

import os
from pathlib import Path

from pocketmt.errors import DataError
from pocketmt.text.corpus import read_lines

ROOT = Path(__file__).resolve().parents[2]
# Choices are made on the first alone; the others are looked at last.
VALIDATION = "val"
TESTS = ("test_2016_flickr", "test_2017_flickr")


def folder() -> Path:
    """Return the folder of train.en, val.en, test_2016_flickr.en and so on; DataError where there is none."""
    path = Path(os.environ.get("POCKETMT_MULTI30K", ROOT.parent / "shared" / "data" / "multi30k"))
    if not (path / "train.en").exists():
        raise DataError(f"{path}: Multi30k is not there; name its folder in the environment variable POCKETMT_MULTI30K")
    return path


def lines(name: str, language: str) -> list[str]:
    """Return the lines of one set ("val", "test_2016_flickr", ...) in one language ("en", "de")."""
    return list(read_lines(folder() / f"{name}.{language}"))
