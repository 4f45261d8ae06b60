"""pocketmt benchmark: how fast a model file translates a text."""

from pathlib import Path

import click

from pocketmt.cli.options import (
    FILE,
    beam_size_option,
    instruction_set_option,
    json_option,
    shortlist_option,
    workers_option,
)


@click.command(short_help="Time a model on a text.")
@click.argument("model")
@click.argument("text", type=FILE)
@beam_size_option
@click.option(
    "--batch-size",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Sentences translated together; 1 is one at a time.",
)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Runs over the whole text.")
@shortlist_option
@workers_option
@instruction_set_option
@json_option
def benchmark(
    model: str,
    text: Path,
    beam_size: int,
    batch_size: int,
    repeats: int,
    shortlist: bool,
    workers: int,
    instruction_set: str | None,
    as_json: bool,
) -> None:
    """Translate TEXT by MODEL several times over, and write the median time, its spread and the peak memory.

    MODEL is a model file (*.pocketmt) or the name of a bundled model. With --json, the record also says machine, commit
    and command.

    \b
    Examples:
      pocketmt benchmark my.pocketmt test.en
      taskset -c 0 pocketmt benchmark captions-en-de test.en --beam-size 1 --batch-size 64 --json
    """
    from dataclasses import asdict

    from pocketmt.engine.bundled import resolve_model
    from pocketmt.evaluation.model_file import measure_speed
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.tables import look_up, write_value

    record = measure_speed(
        resolve_model(model),
        text,
        beam_size=beam_size,
        batch_size=batch_size,
        repeats=repeats,
        workers=workers,
        instruction_set=instruction_set,
        shortlist=shortlist,
    )
    if as_json:
        click.echo(to_json(record))
        return
    values = asdict(record)
    for title, key in (
        ("sentences a second", "timing.sentences_per_second"),
        ("seconds, median run", "timing.median_seconds"),
        ("seconds, fastest run", "timing.fastest_seconds"),
        ("seconds, slowest run", "timing.slowest_seconds"),
        ("milliseconds a call, median", "timing.median_call_milliseconds"),
        ("milliseconds a call, 95 % within", "timing.percentile_95_call_milliseconds"),
        ("seconds to load", "load_seconds"),
        ("bytes of the model file", "model_bytes"),
        ("bytes of memory, peak", "peak_memory_bytes"),
        ("bytes of memory, before loading", "memory_before_load_bytes"),
        ("instruction set", "instruction_set"),
    ):
        click.echo(f"{title:34}{write_value(look_up(values, key)):>14}")
