"""pocketmt import: a model of another toolkit becomes a model file."""

import tempfile
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.atomic_file import check_not_read
from pocketmt.cli.endings import quoted, show_model_file
from pocketmt.cli.options import (
    FILE,
    EncodableText,
    GivenOnce,
    description_option,
    licence_option,
    warn_of_languages,
)

if TYPE_CHECKING:
    from pocketmt.model_file.metadata import ModelMetadata


@click.command("import", short_help="Make a model file from a model of another toolkit.")
@click.argument("source", type=FILE)
@click.option("--output", "-o", cls=GivenOnce, type=FILE, required=True, help="The model file to write (*.pocketmt).")
@click.option(
    "--source-language",
    type=EncodableText(),
    metavar="CODE",
    default="",
    help="Language code of the source; replaces what the model says.",
)
@click.option(
    "--target-language",
    type=EncodableText(),
    metavar="CODE",
    default="",
    help="Language code of the target; replaces what the model says.",
)
@licence_option
@description_option
@click.option(
    "--text",
    "texts",
    type=FILE,
    multiple=True,
    help="Remove the pieces of the vocabulary that do not occur in this text. May be repeated; give text of both "
    "languages.",
)
@click.option(
    "--keep-languages",
    metavar="CODES",
    multiple=True,
    help="With --text: cut all other languages of a model that has several; codes separated by commas.",
)
@click.option(
    "--held-out", type=FILE, help="With --text: text on which to count the lines that are now split differently."
)
@click.option("--references", type=FILE, help="With --held-out: translations of it; BLEU is measured before and after.")
def import_(
    source: Path,
    output: Path,
    source_language: str,
    target_language: str,
    licence: str,
    description: str,
    texts: tuple[Path, ...],
    keep_languages: tuple[str, ...],
    held_out: Path | None,
    references: Path | None,
) -> None:
    """Make a model file from a model of another toolkit, without changing its weights.

    SOURCE is the folder of a model: Hugging Face (Marian/OPUS-MT, M2M100, NLLB), Marian (.npz), bergamot/Firefox (.bin)
    or CTranslate2. The format is detected. 8-bit codes are kept. A model with a feature that a model file cannot
    represent is refused; the message names the feature. Requires pip install 'pocketmt[interop]'.

    With --text, the embeddings lose the rows of pieces that do not occur in the text. Give text in every language that
    is kept, of the source and of the target. Other words are split into smaller pieces, and other characters may become
    unknown, which makes translations longer and worse. --held-out counts how often that happens in other text, and with
    --references measures the loss in BLEU.

    \b
    Examples:
      pocketmt import opus-mt-en-de --output en-de.pocketmt
      pocketmt import models/en-de --output en-de.pocketmt --licence CC-BY-4.0 --source-language en --target-language de
      pocketmt import nllb --output en-de.pocketmt --keep-languages eng,deu --text news.en --text news.de
    """
    from pocketmt.interop.importing import import_model
    from pocketmt.trimming.model import trimming_to

    if keep_languages and not texts:
        raise click.UsageError("--keep-languages needs --text, in the languages that stay.")
    if (held_out is not None and not texts) or (references is not None and held_out is None):
        raise click.UsageError("--references needs --held-out, and --held-out needs --text.")
    check_not_read([output], [path for path in (*texts, held_out, references) if path is not None])
    _check_measured(held_out, references)
    languages = [code.strip() for codes in keep_languages for code in codes.split(",") if code.strip()]
    warn_of_languages(language for language in (source_language, target_language) if language)
    model = import_model(
        source,
        output,
        source_language=source_language,
        target_language=target_language,
        licence=licence,
        description=description,
        change=trimming_to(texts, languages),
    )
    for note in model.notes:
        click.echo(f"note: {note}", err=True)
    _warn_of_unknown_languages(model.metadata)
    if held_out is not None:
        try:
            _show_loss(source, output, held_out, references)
        except BaseException:
            click.echo(f"note: {output} was written, but its loss could not be measured", err=True)
            raise
    show_model_file(output, f"pocketmt translate --model {quoted(output)} < TEXT")


def _warn_of_unknown_languages(said: "ModelMetadata") -> None:
    """Warn on stderr of a side whose language neither the model nor an option names."""
    pieces = said.language_pieces
    sides = {
        "source": said.source_language or (pieces is not None and pieces.source),
        "target": said.target_language or pieces is not None,
    }
    unknown = [side for side, known in sides.items() if not known]
    if unknown:
        options = " and ".join(f"--{side}-language CODE" for side in unknown)
        click.echo(f"warning: the model does not say its {' and '.join(unknown)} language: give {options}", err=True)


def _check_measured(held_out: Path | None, references: Path | None) -> None:
    """Check, before any work starts, the text that is measured after it.

    Pairs of a parallel format need the languages of the model, and pipes can be read only once: they are checked later.

    Raises OSError and DataError if a file cannot be read or lines differ in number, and ConfigurationError as
    `both_sides` does.
    """
    from pocketmt.text.corpus import both_sides, is_plain, read_lines, read_pairs

    if held_out is None:
        return
    files = [held_out] if references is None else [*both_sides(held_out, references)]
    for path in files:
        if not path.is_fifo():
            path.open("rb").close()
    if all(path.is_file() and is_plain(path) for path in files):
        deque(read_lines(held_out) if references is None else read_pairs(held_out, references), maxlen=0)


def _show_loss(source: Path, trimmed: Path, held_out: Path, references: Path | None) -> None:
    """Import the whole model to a temporary file beside the trimmed one, and compare the two."""
    from pocketmt.evaluation.trimming import measure_trimming
    from pocketmt.interop.importing import import_model
    from pocketmt.model_file import open_model

    with tempfile.TemporaryDirectory(prefix="pocketmt-", dir=trimmed.parent) as folder:
        whole = Path(folder) / "whole.pocketmt"
        with open_model(trimmed) as file:
            # Of several languages, the ones that stay are those to compare in.
            source_language, target_language = file.source_language, file.target_language
        import_model(source, whole, source_language=source_language, target_language=target_language)
        for line in measure_trimming(whole, trimmed, held_out, references).lines():
            click.echo(line, err=True)
