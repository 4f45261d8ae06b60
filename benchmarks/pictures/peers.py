"""Time a sentence of PocketMT and other engines: a panel for each case, a bar for each engine and its weights."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

CASES = ("one by one, greedy", "one by one, beam 4", "batches, greedy", "batches, beam 4")
MEDIAN = "milliseconds_per_sentence"
GREYS = {"Marian": "0.55", "CTranslate2": "0.72"}
BLUES = {"float32": 0.35, "uniform8": 0.55, "logarithmic4": 0.75, "mixed2.6": 0.95}  # shades, darker for fewer bits
TIMES = "×: times as fast as the faster peer of its group; thin lines: from the fastest round to the slowest"
UNLISTED = "white lines: the same side without a shortlist, where that is faster"


@dataclass(frozen=True)
class Place:
    """Selects the measurements of a panel from a record."""

    model: str
    decoder: str
    shortlist: bool
    case: str

    def of(self, record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """Return the matching `rows` or `measurements` of the record; ConfigurationError if there are none."""
        here = vars(self).items()
        found = [each for each in look_up(record, key) if all(each.get(name) == value for name, value in here)]
        if not found:
            raise ConfigurationError(f"the record has no {key} of {', '.join(f'{n} {v}' for n, v in here)}")
        return found


def draw_base(record: Mapping[str, Any]) -> Figure:
    """Draw `base` in every case; ConfigurationError if the record lacks one."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    grid = figure.subplots(2, 2, sharey=True)
    for axes, case in zip(grid.flat, CASES, strict=True):
        _draw_panel(axes, record, Place("base, random weights", "self-attention", False, case))
        axes.set_title(case)
    grid[0, 0].invert_yaxis()  # shared by all
    figure.supxlabel(f"ms a sentence\n{TIMES}", fontsize="medium")
    return figure


def draw_students(record: Mapping[str, Any], deep_record: Mapping[str, Any]) -> Figure:
    """Draw a student of each record with a shortlist; ConfigurationError if a record lacks a case."""
    columns = (
        (record, "6-2.tiny, random weights", "self-attention", "6-2.tiny, decoder of self-attention"),
        (deep_record, "12-1.tiny, random weights", "ssru", "12-1.tiny, decoder of SSRUs"),
    )
    figure = Figure(figsize=(9, 7.5), layout="constrained")
    grid = figure.subplots(len(CASES), len(columns))
    for line, case in zip(grid, CASES, strict=True):
        for axes, (of_model, model, decoder, title) in zip(line, columns, strict=True):
            _draw_panel(axes, of_model, Place(model, decoder, True, case))
            axes.set_title(f"{title}\n{case}" if case == CASES[0] else case)
            axes.invert_yaxis()
    figure.supxlabel(f"ms a sentence, with a shortlist\n{TIMES}\n{UNLISTED}", fontsize="medium")
    return figure


def _draw_panel(axes: Axes, record: Mapping[str, Any], place: Place) -> None:
    labels: dict[float, str] = {}
    rows = place.of(record, "rows")
    unlisted = replace(place, shortlist=False).of(record, "measurements")
    without = {_name(side): look_up(side, MEDIAN) for each in unlisted for side in look_up(each, "sides")}
    for group, measurement in enumerate(place.of(record, "measurements")):
        for side in look_up(measurement, "sides"):
            y, name = len(labels) + 0.5 * group, _name(side)  # a gap between float32 and fewer bits
            labels[y] = name
            _draw_bar(axes, y, side, rows)
            if name in without and without[name] < look_up(side, MEDIAN):
                axes.plot([without[name]] * 2, [y - 0.4, y + 0.4], color="white", linewidth=2)
    axes.set_yticks(list(labels), list(labels.values()))
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(right=1.2 * axes.get_xlim()[1])  # room for the numbers


def _draw_bar(axes: Axes, y: float, side: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> None:
    name, weights, median = (look_up(side, key) for key in ("side", "weights", MEDIAN))
    text, color = f"{median:.1f}", GREYS.get(name)
    if color is None:
        compared = [row for row in rows if look_up(row, "weights") == weights]
        if weights not in BLUES or not compared:
            raise ConfigurationError(f"no color, or no rows, of the weights {weights} of {name}")
        faster = min(compared, key=lambda row: float(look_up(row, "peer_milliseconds")))
        text += f"  ({look_up(faster, 'speed_ratio'):.1f} ×)"
    axes.barh(y, median, height=0.8, color=color or colormaps["Blues"](BLUES[weights]))
    spread = [look_up(side, "fastest_milliseconds"), look_up(side, "slowest_milliseconds")]
    axes.plot(spread, [y, y], color="black", linewidth=0.8)
    axes.annotate(text, (spread[1], y), (4, 0), textcoords="offset points", va="center")


def _name(side: Mapping[str, Any]) -> str:
    return f"{look_up(side, 'side')} {look_up(side, 'weights')}"
