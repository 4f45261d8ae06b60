"""pocketmt translate: translate text line by line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.cli.options import (
    DEFAULT_MODEL,
    FILE,
    beam_size_option,
    instruction_set_option,
    pin_workers_option,
    shortlist_option,
    workers_option,
)
from pocketmt.cli.streams import open_input, open_output, read_chunks, write_chunks

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
@beam_size_option
@click.option(
    "--n-best",
    "-n",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Translations of each line, at most the beam size: best first, in one line, separated by tabs.",
)
@click.option(
    "--split/--no-split",
    default=None,
    help="Translate the sentences of a line one by one, or the line as a whole (default: split if the model translates "
    "sentences, as its file says).",
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
    beam_size: int,
    n_best: int,
    split: bool | None,
    scores: bool,
    as_json: bool,
    shortlist: bool,
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
    """
    from pocketmt.engine.options import TranslationOptions
    from pocketmt.engine.translator import LINES_AT_ONCE, Translator

    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs a beam of at least that size: --beam-size {n_best}")
    translator = Translator(model, workers=workers, pin_workers=pin_workers, instruction_set=instruction_set)
    options: TranslationOptions = {"beam_size": beam_size, "shortlist": shortlist}
    if split is not None:
        options["split"] = split
    with open_input(input_path) as source, open_output(output_path) as target:
        chunks = read_chunks(source, str(input_path or "stdin"), LINES_AT_ONCE)
        if n_best > 1 or scores or as_json:
            translations: Iterator[list[str]] = (
                [
                    _format_hypotheses(each, scores, as_json)
                    for each in translator.translate_n_best(chunk, n_best, **options)
                ]
                for chunk in chunks
            )
        else:
            translations = translator.translate_chunks(chunks, **options)
        write_chunks(translations, target, show_progress=sys.stderr.isatty() and not source.isatty())


def _format_hypotheses(hypotheses: list["Hypothesis"], scores: bool, as_json: bool) -> str:
    if as_json:
        translations = [{"text": each.text, "score": round(each.score, 6)} for each in hypotheses]
        return json.dumps({"translations": translations}, ensure_ascii=False)
    texts = [each.text.replace("\t", " ") for each in hypotheses]  # Tabs separate the columns.
    if scores:
        return "\t".join(f"{each.score:.6f}\t{text}" for each, text in zip(hypotheses, texts, strict=True))
    return "\t".join(texts)
