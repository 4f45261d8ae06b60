"""pocketmt compare: a model beside the smaller one made from it, as a page and as JSON."""

from pathlib import Path

import click

from pocketmt.atomic_file import atomic_write, check_output, resolved
from pocketmt.cli.options import (
    FILE,
    GivenOnce,
    beam_size_option,
    check_replaces_nothing,
    source_language_option,
    target_language_option,
    workers_option,
)
from pocketmt.cli.streams import warn
from pocketmt.progress import ProgressLine


@click.command(short_help="Write an HTML report that compares a small model with its original.")
@click.argument("original")
@click.argument("small")
@click.option(
    "--text",
    "-t",
    type=FILE,
    required=True,
    help="Text in the source language, one sentence per line; or a TSV, JSONL or TMX file, which holds references too.",
)
@click.option(
    "--reference",
    "--references",
    "-r",
    "references",
    type=FILE,
    multiple=True,
    help="Reference translations, line by line. Repeat the option for several references of each line.",
)
@click.option("--output", "-o", cls=GivenOnce, type=FILE, default=None, help="Page to write (HTML).")
@click.option("--json", "json_path", type=FILE, default=None, help="Record to write (JSON).")
@click.option("--lines", type=click.IntRange(1), default=None, help="Only the first lines of the text (default: all).")
@click.option(
    "--speed/--no-speed", default=True, help="Measure speed and memory, in separate processes (default: speed)."
)
@source_language_option
@target_language_option
@beam_size_option
@workers_option
def compare(
    original: str,
    small: str,
    text: Path,
    references: tuple[Path, ...],
    output: Path | None,
    json_path: Path | None,
    lines: int | None,
    speed: bool,
    source_language: str | None,
    target_language: str | None,
    beam_size: int,
    workers: int,
) -> None:
    """Compare SMALL with ORIGINAL, the model that it was made from: is it as good, and how much smaller and faster?

    Both are model files (*.pocketmt), names of bundled models or models of other toolkits. Without references, the
    agreement with the original shows what was lost. The page needs no network: sizes by matrix and scheme, BLEU and
    chrF with their significance, agreement by sentence length, the translations that changed most, repetitions, missing
    text, speed and memory.

    Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt compare captions.pocketmt small.pocketmt --text test.en -o report.html
      pocketmt compare captions.pocketmt small.pocketmt --text test.en -r test.de -o report.html --json report.json
    """
    _check_outputs(output, json_path)
    if original == small:
        warn(f"{original} is compared with itself: every difference is zero")
    check_replaces_nothing((output, json_path), (original, small, text, *references))
    from pocketmt.evaluation.comparison.run import compare_models
    from pocketmt.evaluation.comparison.summary import headline, tiles
    from pocketmt.evaluation.records import to_json

    comparison = compare_models(
        original,
        small,
        text,
        references,
        search={"beam_size": beam_size, "source_language": source_language, "target_language": target_language},
        workers=workers,
        most_lines=lines,
        speed=speed,
        progress=_Progress(),
    )
    if json_path is not None:
        with atomic_write(json_path) as stream:
            stream.write(f"{to_json(comparison)}\n".encode())
    if output is not None:
        from pocketmt.evaluation.comparison.page import render

        with atomic_write(output) as stream:
            stream.write(render(comparison).encode())
    click.echo(headline(comparison))
    for value, what in tiles(comparison):
        click.echo(f"{value:>16}  {what}")


def _check_outputs(output: Path | None, json_path: Path | None) -> None:
    if output is not None and json_path is not None and resolved(output) == resolved(json_path):
        raise click.UsageError("--output and --json name the same file: name two.")
    for path in (output, json_path):
        if path is not None:
            check_output(path)


class _Progress:
    """Shows the progress of each step in a line of its name."""

    def __init__(self) -> None:
        self._lines: dict[str, ProgressLine] = {}

    def __call__(self, step: str, done: int, total: int) -> None:
        unit = "runs" if step == "measured speed" else "lines"
        self._lines.setdefault(step, ProgressLine(step, unit)).update(done, total)
