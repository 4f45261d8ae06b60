"""pocketmt attention: what models attend to, before and after compression, side by side."""

from pathlib import Path
from typing import Literal

import click

from pocketmt.cli.options import FILE, check_picture, json_option


@click.command(short_help="Draw what several models attend to, side by side.")
@click.argument("models", nargs=-1, required=True)
@click.option("--text", required=True, help="The sentence.")
@click.option("--output", "-o", type=FILE, required=True, help="The picture (.png, .svg, .pdf).")
@click.option("--target", default=None, help="Its translation (default: what the first model writes, greedily).")
@click.option(
    "--kind",
    type=click.Choice(["cross", "encoder", "decoder"]),
    default="cross",
    show_default=True,
    help="From the target to the source, or within the source, or within the target.",
)
@click.option("--layer", type=click.IntRange(1), default=None, help="Counted from 1 (default: the last).")
@click.option("--head", type=click.IntRange(1), default=None, help="Counted from 1 (default: the mean of all).")
@json_option
def attention(
    models: tuple[str, ...],
    text: str,
    output: Path,
    target: str | None,
    kind: Literal["cross", "encoder", "decoder"],
    layer: int | None,
    head: int | None,
    as_json: bool,
) -> None:
    """Draw what each of MODELS attends to in one sentence: a panel a model, a row a piece of the target.

    MODELS are model files, names of bundled models, or folders that `pocketmt train` wrote, all of one vocabulary. So
    that rows compare, every model is made to write the same target. The table on stdout says how far each is from
    the first: half the sum of the absolute differences of a row, from 0 to 1, averaged over rows.
    The models run in PyTorch, as their files' codes say. Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt attention runs/captions captions8.pocketmt captions4.pocketmt --text "A man rides a bike." -o picture.svg
      pocketmt attention runs/captions captions4.pocketmt --text "A man." --kind encoder --head 2 -o picture.png
    """
    check_picture(output)
    from pocketmt.evaluation.attention import attention_table, compare_attention
    from pocketmt.evaluation.attention_picture import draw_attention
    from pocketmt.evaluation.records import to_json

    found = compare_attention(models, text, target, kind=kind, layer=layer, head=head)
    click.echo(to_json(found) if as_json else attention_table(found))
    draw_attention(found, output)
