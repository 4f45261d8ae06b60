"""A small parallel text for tests: the sentence pairs of the demo."""

import functools
from pathlib import Path

PAIRS = Path(__file__).resolve().parents[1] / "examples" / "demo" / "test.tsv"


@functools.cache
def parallel_text() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return 200 English lines and their German translations."""
    english, german = zip(*(line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()), strict=True)
    return english, german
