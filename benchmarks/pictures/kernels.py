"""Share of a core's peak that each kernel reaches, over the number of rows of activations."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

# In `base`: the largest matrix of a layer, and the output matrix.
SHAPES = ("2048 x 512", "32000 x 512")
PLACES = ("memory", "cache")
GOALS = ((0.8, 1, 1), (0.7, 32, 64))  # share of the floor, for this range of rows of activations
MARKERS = {"int8": "o", "six_bit": "s", "table4": "^", "row_table4": "v", "planes2": "D", "planes1": "P"}


def draw_kernels(record: Mapping[str, Any]) -> Figure:
    """Draw the share of the floor of each family on the best instruction set, the first one of the record.

    Raises ConfigurationError if the record has no rows, or none of a shape.
    """
    rows = look_up(record, "rows")
    if not rows:
        raise ConfigurationError("the record of the kernels has no rows")
    best = look_up(rows[0], "instruction_set")
    figure = Figure(figsize=(9, 7.5), layout="constrained")
    grid = figure.subplots(len(PLACES), len(SHAPES), sharex=True, sharey=True)
    for line, place in zip(grid, PLACES, strict=True):
        for axes, shape in zip(line, SHAPES, strict=True):
            here = {"instruction_set": best, "shape": shape, "weights": place}
            chosen = [row for row in rows if all(look_up(row, key) == value for key, value in here.items())]
            if not chosen:
                raise ConfigurationError(f"the record of the kernels has no row of {', '.join(here.values())}")
            _draw_panel(axes, chosen)
            axes.set_title(f"{shape}, read from {place}")
        line[0].set_ylabel("share of the floor")
    for axes in grid[-1]:
        axes.set_xlabel("rows of activations")
    grid[0, 0].set_ylim(bottom=0)  # shared by all
    legend = grid[0, 0].get_legend_handles_labels()
    figure.legend(*legend, title=f"{best}; 100% is the limit of the core", loc="outside upper center", ncols=7)
    return figure


def _draw_panel(axes: Axes, rows: list[Mapping[str, Any]]) -> None:
    counts = [look_up(row, "count") for row in rows]
    axes.axhline(1, color="0.6")
    for family, marker in MARKERS.items():
        shares = [look_up(row, f"floor_share.{family}") for row in rows]
        axes.plot(counts, shares, marker=marker, markersize=5, label=family)
    goals, fewest, most = zip(*GOALS, strict=True)
    ends = [count / 1.3 for count in fewest], [count * 1.3 for count in most]
    axes.hlines(goals, *ends, colors="black", linestyles="dashed", zorder=3, label="goals")
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.yaxis.set_major_formatter(PercentFormatter(1))
