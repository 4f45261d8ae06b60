"""pocketmt inspect: contents of a model file."""

from dataclasses import replace

import click

from pocketmt.cli.options import json_option


@click.command(short_help="Show the contents of a model file.")
@click.argument("model")
@json_option
def inspect(model: str, as_json: bool) -> None:
    """Show languages, unit, licence, recipe, training, scores, each matrix, and the size by part compared with fp32.

    MODEL is a model file (*.pocketmt), the name of a bundled model, or a model that `pocketmt import` reads. It is
    checked as in `pocketmt translate`.

    \b
    Examples:
      pocketmt inspect everyday-en-de
      pocketmt inspect my.pocketmt --json
    """
    from pocketmt.interop.temporary import as_given
    from pocketmt.model_file.report import inspect_model
    from pocketmt.packing.model_path import model_path

    report = inspect_model(model_path(model))
    report = replace(report, path=as_given(report.path))
    click.echo(report.to_json() if as_json else report.to_text())
