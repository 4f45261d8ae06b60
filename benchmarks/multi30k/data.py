"""The folder of Multi30k, which is not part of the repository, and its sets."""

import os
from pathlib import Path

from pocketmt.errors import DataError
from pocketmt.text.corpus import read_lines

ROOT = Path(__file__).resolve().parents[2]
# Choices are made on the validation set alone; the test sets are used last.
VALIDATION = "val"
TESTS = ("test_2016_flickr", "test_2017_flickr")


def folder() -> Path:
    """Return the folder of train.en, val.en, test_2016_flickr.en and so on; DataError if it does not exist."""
    path = Path(os.environ.get("POCKETMT_MULTI30K", ROOT.parent / "shared" / "data" / "multi30k"))
    if not (path / "train.en").exists():
        raise DataError(f"{path}: Multi30k was not found; set the environment variable POCKETMT_MULTI30K to its folder")
    return path


def lines(name: str, language: str) -> list[str]:
    """Return the lines of one set ("val", "test_2016_flickr", ...) in one language ("en", "de")."""
    return list(read_lines(folder() / f"{name}.{language}"))
