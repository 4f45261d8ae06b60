"""pocketmt benchmark: translation speed and memory of a model file."""

from pathlib import Path
from typing import Literal

import click

from pocketmt.cli.options import (
    FILE,
    beam_size_option,
    instruction_set_option,
    json_option,
    pin_workers_option,
    shortlist_option,
    source_language_option,
    target_language_option,
    workers_option,
)
from pocketmt.progress import ProgressLine

SPEED_ROWS = (
    ("source words a second", "timing.words_per_second"),
    ("sentences a second", "timing.sentences_per_second"),
    ("seconds, median run", "timing.median_seconds"),
    ("seconds, fastest run", "timing.fastest_seconds"),
    ("seconds, slowest run", "timing.slowest_seconds"),
)
LATENCY_ROWS = (
    ("milliseconds a sentence, median", "timing.latency.median_milliseconds"),
    ("milliseconds, 95th percentile", "timing.latency.percentile_95_milliseconds"),
    ("milliseconds, 99th percentile", "timing.latency.percentile_99_milliseconds"),
)
MOST_LINES = 10_000_000  # They are kept in memory, as are the times of all runs.
MOST_REPEATS = 1000
OTHER_ROWS = (
    ("seconds to load", "load_seconds"),
    ("bytes of the model file", "model_bytes"),
    ("bytes of memory, peak", "peak_memory_bytes"),
    ("bytes of memory, before loading", "memory_before_load_bytes"),
    ("bytes of memory, growth", "timing.memory_growth_bytes"),
    ("instruction set", "instruction_set"),
)


@click.command(short_help="Measure the speed of a model on a text.")
@click.argument("model")
@click.argument("text", type=FILE)
@beam_size_option
@click.option(
    "--mode",
    type=click.Choice(["latency", "throughput"]),
    default="latency",
    show_default=True,
    help="Translate one sentence at a time, or the whole text as one stream like `pocketmt translate`.",
)
@click.option("--repeats", type=click.IntRange(1, MOST_REPEATS), default=5, show_default=True, help="Number of runs.")
@click.option(
    "--lines",
    type=click.IntRange(1, MOST_LINES),
    help="Lines translated in each run. TEXT is repeated or cut to this number (default: the lines of TEXT).",
)
@shortlist_option
@workers_option
@pin_workers_option
@instruction_set_option
@source_language_option
@target_language_option
@json_option
def benchmark(
    model: str,
    text: Path,
    beam_size: int,
    mode: Literal["latency", "throughput"],
    repeats: int,
    lines: int | None,
    shortlist: bool,
    workers: int,
    pin_workers: bool,
    instruction_set: str | None,
    source_language: str | None,
    target_language: str | None,
    as_json: bool,
) -> None:
    """Measure the speed and the peak memory of MODEL on TEXT.

    MODEL is a model file (*.pocketmt) or the name of a bundled model. It translates TEXT several times; the table shows
    the median, fastest and slowest run. Like the efficiency tasks of WMT and WNGT, the command measures latency
    (one sentence at a time) or throughput, on one core or several. The record of --json also contains the machine, the
    commit and the command.

    \b
    Examples:
      pocketmt benchmark my.pocketmt test.en
      pocketmt benchmark my.pocketmt test.en --mode throughput --workers 4 --pin-workers
      pocketmt benchmark everyday-en-de test.en --beam-size 1 --mode throughput --lines 1000000 --repeats 1 --json
    """
    from dataclasses import asdict, replace

    from pocketmt.evaluation.model_file import measure_speed
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.tables import look_up, write_value
    from pocketmt.packing.model_path import model_path

    record = measure_speed(
        model_path(model),
        text,
        beam_size=beam_size,
        mode=mode,
        repeats=repeats,
        lines=lines,
        workers=workers,
        pin_workers=pin_workers,
        instruction_set=instruction_set,
        shortlist=shortlist,
        languages=(source_language, target_language),
        progress=ProgressLine("translated", "lines").update,
    )
    if as_json:
        click.echo(to_json(replace(record, model=model)))
        return
    values = asdict(record)
    for title, key in (*SPEED_ROWS, *(LATENCY_ROWS if mode == "latency" else ()), *OTHER_ROWS):
        click.echo(f"{title:34}{write_value(look_up(values, key)):>14}")
