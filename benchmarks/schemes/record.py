"""Rows of the record of forms."""

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.markdown import markdown_table
from benchmarks.one_core import share_of_core
from benchmarks.schemes.forms import Form
from pocketmt.evaluation.tables import Column

COLUMNS = (
    "form",
    "file_megabytes:.1f=file, MB",
    "milliseconds:.2f=ms a sentence",
    "times_8_bit:.2f=times as fast as 8 bit",
    "lowest_times_8_bit:.2f=lowest",
    "highest_times_8_bit:.2f=highest",
    "fastest_times_8_bit:.2f=by fastest runs",
    "peak_over_file_megabytes:.1f=over its file, MB",
    "load_seconds:.2f=loading, s",
    "core_share:.2f=share of the core",
)


def row_of(form: Form, eight_bit: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a form; if `times_8_bit` is above 1, it is faster than the 8-bit file in the same rounds."""
    ratios = sorted(a / b for a, b in zip(eight_bit["seconds"], measured["seconds"], strict=True))
    over_file = measured["peak_memory_bytes"] - measured["file_bytes"]
    return {
        "form": form.name,
        "instruction_set": measured["engine"]["instruction_set"],
        "recipes": form.recipes,
        "entropy_coding": form.entropy_coding,
        "file_megabytes": measured["file_bytes"] / 1e6,
        "milliseconds": measured["milliseconds_per_sentence"],
        "times_8_bit": statistics.median(ratios),
        "lowest_times_8_bit": ratios[0],
        "highest_times_8_bit": ratios[-1],
        "fastest_times_8_bit": eight_bit["fastest_milliseconds"] / measured["fastest_milliseconds"],
        "peak_megabytes": measured["peak_memory_bytes"] / 1e6,
        "peak_over_file_megabytes": over_file / 1e6,
        "load_seconds": measured["load_seconds"],
        "core_share": min(share_of_core(eight_bit), share_of_core(measured)),
    }


def render(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    return markdown_table(rows, [Column.parse(column) for column in COLUMNS])
