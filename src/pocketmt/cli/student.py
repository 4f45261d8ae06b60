"""pocketmt student: a road from teachers to a small fast model, in one command."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE, show_translated


@click.command(short_help="Go the whole road: teachers, their text, a student, made small.")
@click.argument("road", type=FILE)
@click.option("--output", "-o", type=FILE, required=True, help="Folder of the work; the small model is model.pocketmt.")
def student(road: Path, output: Path) -> None:
    """Make a small fast model as ROAD, a TOML file, says.

    Teachers are trained where ROAD names their configurations; they translate the student's training text and any plain
    text; the student is trained on that, made small by a recipe (which may prune it first), and given a shortlist.

    What was stopped, by Ctrl-C or in any other way, goes on where it was when it is called again in the same way.
    Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt student captions.toml --output runs/pocket
      pocketmt translate --model runs/pocket/model.pocketmt < test.en
    """
    from pocketmt.recipes.student.schema import read_road

    # A mistake in a file is told before PyTorch is loaded, which takes seconds.
    plan = read_road(road)
    from pocketmt.evaluation.tables import Column, plain_table
    from pocketmt.recipes.student.run import make_student

    milestones = make_student(
        plan, output, step=lambda name: click.echo(f"== {name}", err=True), translated=show_translated
    )
    largest = milestones[0].bytes
    rows = [
        {"model": each.model, "bytes": each.bytes, "smaller": largest / each.bytes, "bleu": each.bleu}
        for each in milestones
    ]
    columns = ("model", "bytes:,", "smaller:.1f=times smaller", "bleu:.1f=val BLEU, greedy")
    click.echo(plain_table(rows, [Column.parse(column) for column in columns]))
