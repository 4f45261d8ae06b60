"""Draws attention weights of several models side by side, such as before and after compression.

python -m benchmarks.attention runs/captions captions4.pocketmt --text "A man rides a bike." --output picture.svg
"""

import dataclasses
import sys
from pathlib import Path
from typing import Literal

import click

from benchmarks.attention.comparison import attention_table, compare_attention
from benchmarks.attention.picture import draw_attention
from benchmarks.record_files import write_record
from pocketmt.cli.main import run
from pocketmt.cli.options import FILE, check_picture, json_option
from pocketmt.evaluation.records import provenance, to_json


@click.command(short_help="Draw the attention of several models side by side.")
@click.argument("models", nargs=-1, required=True)
@click.option("--text", required=True, help="The source sentence.")
@click.option("--output", "-o", type=FILE, required=True, help="The picture to write (.png, .svg, .pdf).")
@click.option("--target", default=None, help="Its translation (default: by greedy search with the first model).")
@click.option(
    "--kind",
    type=click.Choice(["cross", "encoder", "decoder"]),
    default="cross",
    show_default=True,
    help="Attention from the target to the source, within the source, or within the target.",
)
@click.option("--layer", type=click.IntRange(1), default=None, help="Layer, counted from 1 (default: the last).")
@click.option("--head", type=click.IntRange(1), default=None, help="Head, counted from 1 (default: the mean of all).")
@click.option("--record", type=FILE, default=None, help="Also write the weights as a record, for benchmarks.pictures.")
@json_option
def attention(
    models: tuple[str, ...],
    text: str,
    output: Path,
    target: str | None,
    kind: Literal["cross", "encoder", "decoder"],
    layer: int | None,
    head: int | None,
    record: Path | None,
    as_json: bool,
) -> None:
    """Draw the attention of MODELS in one sentence: a panel for each model, a row for each piece that attends.

    MODELS are model files, names of bundled models, or folders that `pocketmt train` wrote. They must have the same
    vocabulary. All are given the same target, so that their rows can be compared. The table on stdout shows the
    distance of each model from the first: half the sum of the absolute differences of a row, from 0 to 1, averaged
    over rows. The models run in PyTorch, with the weights that the codes of their files represent.

    \b
    Examples:
      python -m benchmarks.attention runs/captions captions4.pocketmt --text "A man rides a bike." -o picture.svg
      python -m benchmarks.attention runs/captions 4.pocketmt --text "A man." --kind encoder --head 2 -o picture.png
    """
    check_picture(output)
    origin = provenance()
    found = compare_attention(models, text, target, kind=kind, layer=layer, head=head)
    click.echo(to_json(found) if as_json else attention_table(found))
    draw_attention(found, output)
    if record is not None:
        write_record({**dataclasses.asdict(found), "provenance": origin}, record)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], attention, "python -m benchmarks.attention"))
