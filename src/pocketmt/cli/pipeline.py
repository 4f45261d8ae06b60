"""pocketmt pipeline: from teachers to a small, fast model in one command."""

from pathlib import Path

import click

from pocketmt.cli.endings import quoted, show_next
from pocketmt.cli.options import FILE, GivenOnce, warn_of_languages
from pocketmt.cli.streams import warn
from pocketmt.progress import ProgressLine


@click.command(short_help="Run the full pipeline: train teachers, distil, train a student, compress it.")
@click.argument("configuration", type=FILE)
@click.option(
    "--output",
    "-o",
    cls=GivenOnce,
    type=FILE,
    required=True,
    help="Folder for all results; the small model is model.pocketmt.",
)
def pipeline(configuration: Path, output: Path) -> None:
    """Make a small, fast model as CONFIGURATION, a TOML file, describes.

    Teachers are trained first if the file names training configurations for them. They translate the student's training
    text, which needs no target side, and any plain text. The student is trained on the translations, compressed by a
    recipe (which may prune it first), and given a shortlist.

    An interrupted run resumes when it is called again with the same arguments and text.
    Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt pipeline pipeline.toml --output runs/pocket
      pocketmt translate --model runs/pocket/model.pocketmt < test.en
    """
    from pocketmt.distillation.configuration import read_pipeline

    # A mistake in a file is reported before PyTorch is loaded, which takes seconds.
    parsed = read_pipeline(configuration)
    warn_of_languages(parsed.student.data.languages)
    from pocketmt.distillation.pipeline import run_pipeline
    from pocketmt.evaluation.tables import Column, plain_table

    artifacts = run_pipeline(
        parsed,
        output,
        step=lambda name: click.echo(f"== {name}", err=True),
        translated=ProgressLine("translated", "lines").update,
        warn=warn,
    )
    largest = artifacts[0].bytes
    rows = [
        {"model": each.model, "bytes": each.bytes, "smaller": largest / each.bytes, "bleu": each.bleu}
        for each in artifacts
    ]
    columns = ("model", "bytes:,", "smaller:.1f=times smaller", "bleu:.1f=val BLEU, greedy")
    click.echo(plain_table(rows, [Column.parse(column) for column in columns]))
    if parsed.student.data.plain_validation_text:
        click.echo("BLEU is against the teachers' translations: the validation text has no target side", err=True)
    show_next(f"pocketmt translate --model {quoted(output / 'model.pocketmt')} < TEXT")
