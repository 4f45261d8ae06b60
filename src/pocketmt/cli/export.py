"""pocketmt export: a model file becomes a model of another toolkit."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE, GivenOnce
from pocketmt.interop.formats import FORMATS

TARGETS = [format.name for format in FORMATS.values() if format.write is not None]


@click.command(short_help="Write a model for another toolkit.")
@click.argument("model")
@click.option("--to", "target", type=click.Choice(TARGETS), required=True, help="The format to write.")
@click.option(
    "--output", "-o", cls=GivenOnce, type=FILE, required=True, help="The folder to write, which must not exist yet."
)
def export(model: str, target: str, output: Path) -> None:
    """Write MODEL in a format that other toolkits read.

    MODEL is a model file (*.pocketmt), the name of a bundled model, or a model that `pocketmt import` reads. A feature
    that the format cannot represent is refused, and named. If it can be represented only approximately, a message says
    so. Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt export my.pocketmt --to ctranslate2 --output my-ctranslate2
      pocketmt export my.pocketmt --to hugging-face --output my-hugging-face
    """
    from pocketmt.errors import InteropError
    from pocketmt.interop.exporting import write_folder
    from pocketmt.model_file import open_model
    from pocketmt.packing.foreign import foreign_model_of
    from pocketmt.packing.model_path import model_path

    with open_model(model_path(model)) as file:
        try:
            notes = write_folder(foreign_model_of(file), FORMATS[target], output)
        except InteropError as error:
            others = ", ".join(name for name in TARGETS if name != target)
            raise InteropError(
                f"{model} cannot be exported to {target}: {error}. Try another format ({others}); "
                "docs/guides/other-models.md says what the bundled models can be exported to"
            ) from error
    for note in notes:
        click.echo(f"note: {note}", err=True)
    size = sum(each.stat().st_size for each in output.iterdir())
    click.echo(f"{output}: {size:,} bytes", err=True)
