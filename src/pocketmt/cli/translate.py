"""pocketmt translate: translate text line by line."""

from pathlib import Path
from typing import Any

import click

from pocketmt.cli.documents import RecordOptions, record_options
from pocketmt.cli.options import DEFAULT_MODEL, FILE, translator_options
from pocketmt.cli.search import SearchChoices, search_options
from pocketmt.cli.streams import encode_chunks, open_input, open_output, read_chunks, warn, write_blocks


@click.command(short_help="Translate text, line by line.")
@click.option(
    "--model",
    "-m",
    default=DEFAULT_MODEL,
    show_default=True,
    help="A model file (*.pocketmt), the name of a bundled model, or a model that `pocketmt import` reads.",
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
@record_options
@search_options
@click.option(
    "--longest-sentence",
    type=click.IntRange(1),
    default=50_000,
    show_default=True,
    metavar="CHARACTERS",
    help="A longer sentence, or line that is not split, is copied instead of translated, with a warning.",
)
@click.option(
    "--check/--no-check",
    default=True,
    help="Warn about lines whose translation may lack text, numbers, URLs or placeholders such as {name} "
    "(default: check).",
)
@translator_options
def translate(
    model: str,
    input_path: Path | None,
    output_path: Path | None,
    records: RecordOptions,
    search: SearchChoices,
    longest_sentence: int,
    check: bool,
    translator_choices: dict[str, Any],
) -> None:
    """Translate UTF-8 text. Every input line gives one output line, even a blank one.

    A line of several sentences is split, each sentence is translated, and the spaces between them stay as they are.

    Lines without words, such as a URL alone, are copied. Warnings on stderr name lines whose translation may lack text.

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
      pocketmt translate --alignment --prefix "Ein Mann" < captions.en
      pocketmt translate --terms terms.tsv < captions.en
      pocketmt translate --sample --seed 7 --top-k 10 --n-best 3 < captions.en
      pocketmt translate --input products.tsv --column 3 --output translated.tsv
      pocketmt translate --input memory.tmx --output translated.tmx
      pocketmt translate --device cuda -i big.en -o big.de
    """
    from pocketmt.engine.checks import MOST_WARNINGS, TranslationChecks
    from pocketmt.engine.translator import Translator
    from pocketmt.interop.temporary import model_file_of

    format_name = records.format(input_path, search.detailed)
    translator = Translator(model_file_of(model), longest_sentence=longest_sentence, **translator_choices)
    name = str(input_path or "stdin")
    checks = TranslationChecks(lambda message: warn(f"{name}, {message}"))
    with open_input(input_path) as source, open_output(output_path) as target:
        document = records.open(source, name, format_name, search.languages(translator))
        count = translator.lines_at_once
        chunks = read_chunks(source, name, count) if document is None else document.chunks(count)
        translations = search.translate(translator, chunks, checks if check else False)
        blocks = encode_chunks(translations) if document is None else document.render(translations)
        write_blocks(blocks, target, show_progress=not source.isatty())
    if checks.suspicious > MOST_WARNINGS:
        warn(f"{name}: {checks.suspicious:,} of {checks.lines:,} lines had such warnings")
