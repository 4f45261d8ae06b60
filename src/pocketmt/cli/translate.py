"""pocketmt translate: translate text line by line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from pocketmt.cli.documents import COLUMN, FIELD, TRANSLATION_FIELD, check_options, open_document
from pocketmt.cli.options import (
    DEFAULT_MODEL,
    FILE,
    beam_size_option,
    instruction_set_option,
    pin_workers_option,
    shortlist_option,
    workers_option,
)
from pocketmt.cli.streams import encode_chunks, open_input, open_output, read_chunks, write_blocks
from pocketmt.text.formats.format import FORMATS, FormatName, format_of

if TYPE_CHECKING:
    from pocketmt.engine import Hypothesis


@click.command(short_help="Translate text, line by line.")
@click.option(
    "--model",
    "-m",
    default=DEFAULT_MODEL,
    show_default=True,
    help="A model file (*.pocketmt), or the name of a bundled model.",
)
@click.option(
    "--input",
    "-i",
    "input_path",
    type=FILE,
    help="Text to translate; gzip if its name ends in .gz (default: stdin).",
)
@click.option(
    "--output", "-o", "output_path", type=FILE, help="File to write; gzip if its name ends in .gz (default: stdout)."
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    default=None,
    help="Format of the text (default: by the suffix of the input file: .tsv, .jsonl, .tmx, or plain text).",
)
@click.option(
    "--column",
    default=None,
    help=f"TSV: column to translate, by number, or by name if the first line names the columns (default: {COLUMN}).",
)
@click.option("--field", default=None, help=f"JSONL: field to translate (default: {FIELD}).")
@click.option(
    "--translation-field",
    default=None,
    help=f"Name of the field, or of the column after a line of names, that is added (default: {TRANSLATION_FIELD}).",
)
@beam_size_option
@click.option(
    "--n-best",
    "-n",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Translations of each line, at most the beam size: best first, in one line, separated by tabs.",
)
@click.option("--scores", is_flag=True, help="Write the score and a tab before each translation.")
@click.option("--json", "as_json", is_flag=True, help="Write each line as a JSON object with translations and scores.")
@shortlist_option
@workers_option
@pin_workers_option
@instruction_set_option
def translate(
    model: str,
    input_path: Path | None,
    output_path: Path | None,
    format_name: FormatName | None,
    column: str | None,
    field: str | None,
    translation_field: str | None,
    beam_size: int,
    n_best: int,
    scores: bool,
    as_json: bool,
    shortlist: bool,
    workers: int,
    pin_workers: bool,
    instruction_set: str | None,
) -> None:
    """Translate UTF-8 text, one sentence per line. Every input line gives one output line, even a blank one.

    TSV, JSONL and TMX are written back with the translations added: as the last column, as a field, or as a variant in
    the target language.

    Lines from a pipe are translated as they arrive: a program can write a line and wait for its translation.

    The score of a translation is its log-probability divided by its length. It is at most 0; the closer to 0, the more
    confident the model.

    \b
    Examples:
      echo "A man rides a bike." | pocketmt translate
      pocketmt translate --input captions.en --output captions.de --workers 2
      pocketmt translate --beam-size 8 --n-best 3 --scores < captions.en
      pocketmt translate --model my.pocketmt --json < captions.en
      pocketmt translate --input products.tsv --column 3 --output translated.tsv
      pocketmt translate --input memory.tmx --output translated.tmx
    """
    from pocketmt.engine.translator import LINES_AT_ONCE, Translator

    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs a beam of at least that size: --beam-size {n_best}")
    formatted = n_best > 1 or scores or as_json
    format_name = format_name or format_of(input_path)
    check_options(format_name, column, field, translation_field, formatted)
    translator = Translator(model, workers=workers, pin_workers=pin_workers, instruction_set=instruction_set)
    with open_input(input_path) as source, open_output(output_path) as target:
        name = str(input_path or "stdin")
        document = None
        if format_name == "text":
            chunks = read_chunks(source, name, LINES_AT_ONCE)
        else:
            languages = cast(dict[str, str], translator.manifest["languages"])
            pair = languages["source"], languages["target"]
            document = open_document(source, name, format_name, pair, column, field, translation_field)
            chunks = document.chunks(LINES_AT_ONCE)
        if formatted:
            translations: Iterator[list[str]] = (
                [
                    _format_hypotheses(each, scores, as_json)
                    for each in translator.translate_n_best(chunk, n_best, beam_size=beam_size, shortlist=shortlist)
                ]
                for chunk in chunks
            )
        else:
            translations = translator.translate_chunks(chunks, beam_size=beam_size, shortlist=shortlist)
        blocks = encode_chunks(translations) if document is None else document.render(translations)
        write_blocks(blocks, target, show_progress=not source.isatty())


def _format_hypotheses(hypotheses: list["Hypothesis"], scores: bool, as_json: bool) -> str:
    if as_json:
        translations = [{"text": each.text, "score": round(each.score, 6)} for each in hypotheses]
        return json.dumps({"translations": translations}, ensure_ascii=False)
    return "\t".join(f"{each.score:.6f}\t{each.text}" if scores else each.text for each in hypotheses)
