"""pocketmt inspect: what is in a model file."""

import click

from pocketmt.cli.options import json_option


@click.command(short_help="Show what is in a model file.")
@click.argument("model")
@json_option
def inspect(model: str, as_json: bool) -> None:
    """Show architecture, each matrix's shape, scheme, bits and bytes, and the totals against fp32.

    MODEL is a model file (*.pocketmt) or the name of a bundled model. The file is checked as it is before translating.

    \b
    Examples:
      pocketmt inspect captions-en-de
      pocketmt inspect my.pocketmt --json
    """
    from pocketmt.engine.bundled import resolve_model
    from pocketmt.model_file.report import inspect_model

    report = inspect_model(resolve_model(model))
    click.echo(report.to_json() if as_json else report.to_text())
