"""Multi30k and its sets."""

from pathlib import Path

from benchmarks.data import corpus
from pocketmt.text.corpus import read_lines

# Choices are made on the validation set alone; the test sets are used last.
VALIDATION = "val"
TESTS = ("test_2016_flickr", "test_2017_flickr")


def folder() -> Path:
    """Return the folder of train.en, val.en, test_2016_flickr.en and so on; DataError if it does not exist."""
    return corpus("multi30k")


def lines(name: str, language: str) -> list[str]:
    """Return the lines of one set ("val", "test_2016_flickr", ...) in one language ("en", "de")."""
    return list(read_lines(folder() / f"{name}.{language}"))
