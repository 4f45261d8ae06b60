"""pocketmt translate: translate text line by line."""

import sys
from pathlib import Path

import click

from pocketmt.cli.options import (
    DEFAULT_MODEL,
    FILE,
    instruction_set_option,
    pin_workers_option,
    workers_option,
)
from pocketmt.cli.search import SearchChoices, search_options
from pocketmt.cli.streams import open_input, open_output, read_chunks, write_chunks


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
@search_options
@workers_option
@pin_workers_option
@instruction_set_option
def translate(
    model: str,
    input_path: Path | None,
    output_path: Path | None,
    search: SearchChoices,
    workers: int,
    pin_workers: bool,
    instruction_set: str | None,
) -> None:
    """Translate UTF-8 text. Every input line gives one output line, even a blank one.

    A line of several sentences is split, each sentence is translated, and the spaces between them stay as they are.

    Lines from a pipe are translated as they arrive: a program can write a line and wait for its translation.

    The score of a translation is its log-probability divided by its length. It is at most 0; the closer to 0, the more
    confident the model.

    \b
    Examples:
      echo "A man rides a bike." | pocketmt translate
      pocketmt translate --input captions.en --output captions.de --workers 2
      pocketmt translate --beam-size 8 --n-best 3 --scores < captions.en
      pocketmt translate --model my.pocketmt --json < captions.en
      pocketmt translate --alignment --prefix "Ein Mann" < captions.en
      pocketmt translate --sample --seed 7 --top-k 10 --n-best 3 < captions.en
    """
    from pocketmt.engine.translator import LINES_AT_ONCE, Translator

    translator = Translator(model, workers=workers, pin_workers=pin_workers, instruction_set=instruction_set)
    with open_input(input_path) as source, open_output(output_path) as target:
        chunks = read_chunks(source, str(input_path or "stdin"), LINES_AT_ONCE)
        write_chunks(
            search.translate(translator, chunks), target, show_progress=sys.stderr.isatty() and not source.isatty()
        )
