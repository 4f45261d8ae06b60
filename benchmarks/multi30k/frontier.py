"""The best recipe at each size, and for each goal, chosen by perplexity on `val`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Goals: compression ratio to the float32 file, and tolerated change in BLEU.
GOALS = ((3.8, 0.0), (7.8, 0.0), (11.8, -0.5), (16.0, -1.0))


def frontier(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows, smallest file first, that are better on `val` than all smaller files.

    The size of a recipe, `least_bytes`, is that of its smaller file, entropy-coded or not.
    """
    sized = [{**row, "least_bytes": min(row["bytes"], row["entropy_coded_bytes"])} for row in rows]
    best: list[dict[str, Any]] = []
    for row in sorted(sized, key=lambda row: (row["least_bytes"], row["perplexity"])):
        if not best or row["perplexity"] < best[-1]["perplexity"]:
            best.append(row)
    return best


def goals(rows: Sequence[Mapping[str, Any]], uncompressed_bytes: int) -> list[dict[str, Any]]:
    """Return the best row on `val` for each goal that some file is small enough for.

    Args:
        rows: the measurements.
        uncompressed_bytes: size of the float32 file.
    """
    sized = [{**row, "times_smaller": uncompressed_bytes / row["least_bytes"]} for row in frontier(rows)]
    found = []
    for smaller, loss in GOALS:
        fitting = [row for row in sized if row["times_smaller"] >= smaller]
        if fitting:
            best = min(fitting, key=lambda row: row["perplexity"])
            found.append({**best, "goal_smaller": smaller, "goal_gain": loss})
    return found
