"""The best recipe at each size, chosen by perplexity on `val`, and a figure of BLEU on the test sets over size.

python -m benchmarks.multi30k.frontier benchmarks/records/multi30k/compression.json docs/frontier.svg
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.recipe_files import read_renamed_record

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


def draw(record: Mapping[str, Any], path: Path) -> None:
    """Draw BLEU on the pooled test sets over file size into a file; its suffix gives the format."""
    from matplotlib.figure import Figure  # takes a second to import

    rows = [row for row in record["rows"] if "tests" in row]
    best = frontier(rows)
    named = {row["recipe"] for row in best}
    others = [{**row, "least_bytes": row["bytes"]} for row in rows if row["recipe"] not in named]
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.scatter(*_points(others), color="0.65", s=18, label="other recipes")
    axes.plot(*_points(best), marker="o", color="C0", label="best on the validation set at its size")
    for number, row in enumerate(best, start=1):
        place = (0, 7 if number % 2 else -14)  # above and below in turn, because neighbours are close
        axes.annotate(str(number), _point(row), xytext=place, textcoords="offset points", ha="center", fontsize="small")
    names = "\n".join(f"{number}  {row['recipe']}" for number, row in enumerate(best, start=1))
    axes.text(0.97, 0.15, names, transform=axes.transAxes, ha="right", va="bottom", fontsize="small", linespacing=1.4)
    axes.set_xlabel("bytes of the file")
    axes.set_ylabel("BLEU, both test sets, beam 4")
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(path)


def _points(rows: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[float]]:
    points = [_point(row) for row in rows]
    return [bytes for bytes, _ in points], [bleu for _, bleu in points]


def _point(row: Mapping[str, Any]) -> tuple[float, float]:
    return row["least_bytes"], row["tests"]["bleu"]


if __name__ == "__main__":
    draw(read_renamed_record(Path(sys.argv[1])), Path(sys.argv[2]))
