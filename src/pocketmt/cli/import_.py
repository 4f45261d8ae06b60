"""pocketmt import: a model of another toolkit becomes a model file."""

from pathlib import Path

import click

from pocketmt.cli.endings import quoted, show_model_file
from pocketmt.cli.options import FILE, warn_of_languages


@click.command("import", short_help="Make a model file from a model of another toolkit.")
@click.argument("source", type=FILE)
@click.option("--output", "-o", type=FILE, required=True, help="The model file to write (*.pocketmt).")
@click.option("--source-language", default="", help="Language code of the source, if the model does not say it.")
@click.option("--target-language", default="", help="Language code of the target, if the model does not say it.")
@click.option("--licence", default="", help="Licence of the model, stored in the file.")
@click.option("--description", default="", help="Description of the model, stored in the file.")
def import_(
    source: Path, output: Path, source_language: str, target_language: str, licence: str, description: str
) -> None:
    """Make a model file from a model of another toolkit, without changing its weights.

    SOURCE is a Hugging Face folder of a Marian (OPUS-MT), M2M100 or NLLB model, a folder of Marian (.npz), of
    bergamot, which Firefox has (.bin), or of CTranslate2; 8-bit codes stay as they are. Its files tell the format.
    What a model file cannot hold is refused by name. Requires pip install 'pocketmt[interop]'.

    \b
    Examples:
      pocketmt import opus-mt-en-de --output en-de.pocketmt
      pocketmt import models/en-de --output en-de.pocketmt --licence CC-BY-4.0 --source-language en --target-language de
    """
    from pocketmt.interop.importing import import_model

    warn_of_languages(language for language in (source_language, target_language) if language)
    model = import_model(
        source,
        output,
        source_language=source_language,
        target_language=target_language,
        licence=licence,
        description=description,
    )
    for note in model.notes:
        click.echo(f"note: {note}", err=True)
    show_model_file(output, f"pocketmt translate --model {quoted(output)} < TEXT")
