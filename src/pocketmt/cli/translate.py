"""pocketmt translate: translate text line by line."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pocketmt.cli.cluster import ClusterOptions, FileOrStream, cluster_options, given_workers
from pocketmt.cli.documents import Document, RecordOptions, TextFormat, check_output_suffix, record_options
from pocketmt.cli.html import check_search, open_html, translate_html
from pocketmt.cli.options import (
    DEFAULT_MODEL,
    GivenOnce,
    check_ensemble,
    check_replaces_nothing,
    option_name,
    translator_options,
)
from pocketmt.cli.search import SearchChoices, naming_options, search_options
from pocketmt.cli.streams import encode_chunks, open_input, open_output, read_chunks, warn, write_blocks

if TYPE_CHECKING:
    from pocketmt.engine import Translator
    from pocketmt.markup.document import HtmlDocument


class TextCommand(click.Command):
    """A command that takes text on stdin, and says so if text is given as an argument."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as a command does; click.UsageError if arguments are left."""
        left = super().parse_args(ctx, args)
        if left:
            given = " ".join(left)
            raise click.UsageError(
                f"Got unexpected arguments ({given}): text is read from standard input, as in "
                "`echo TEXT | pocketmt translate`, or from --input FILE.",
                ctx,
            )
        return left


@click.command(cls=TextCommand, short_help="Translate text, line by line.")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    help="A model file (*.pocketmt), a bundled model (everyday-en-de, or everyday-de-en from its data package), or a "
    "model that `pocketmt import` reads. May be repeated: models with one vocabulary are an ensemble.",
)
@click.option(
    "--input",
    "-i",
    "input_path",
    cls=GivenOnce,
    type=FileOrStream(),
    help="Text to translate; gzip if its name ends in .gz (default: stdin). May be an address (s3://...).",
)
@click.option(
    "--output",
    "-o",
    "output_path",
    cls=GivenOnce,
    type=FileOrStream(),
    help="File to write; gzip if its name ends in .gz (default: stdout). A folder with --ray.",
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
@cluster_options
def translate(
    models: tuple[str, ...],
    input_path: Path | str | None,
    output_path: Path | str | None,
    records: RecordOptions,
    search: SearchChoices,
    longest_sentence: int,
    check: bool,
    translator_choices: dict[str, Any],
    on_cluster: ClusterOptions,
) -> None:
    """Translate UTF-8 text. Each input line gives one output line, even if blank.

    A line of several sentences is split, each sentence is translated, and the spaces between them stay as they are.

    URLs, e-mail addresses, placeholders and emoji are kept, except with --no-split or --prefix.

    TSV, JSONL and TMX are written back with the translations added: as the last column, a field, or a target variant.
    Translations replace the text of HTML and subtitles, and the strings of JSON.

    Lines from a pipe are translated as they arrive, except HTML, subtitles and JSON.

    With --ray, shards are written, and the same command resumes.

    The score of a translation is its log-probability divided by its length, at most 0; that of a line of several
    sentences is the mean of theirs.

    \b
    Examples:
      echo "Where is the train station?" | pocketmt translate
      pocketmt translate --input captions.en --output captions.de --workers 2
      pocketmt translate --beam-size 8 --n-best 3 --scores < captions.en
      pocketmt translate --input products.tsv --column 3 --output translated.tsv
      pocketmt translate --device cuda -i big.en -o big.de
      pocketmt translate --ray auto --input s3://bucket/news.en.gz --output s3://bucket/news.de
    """
    from pocketmt.engine.translator import Translator
    from pocketmt.packing.model_path import model_path

    format_name = records.format(input_path, search.detailed)
    check_output_suffix(output_path)
    check_ensemble(models)
    check_search(format_name, search, translator_choices["device"])
    check_replaces_nothing([output_path], [*models, input_path, search.terms_file])
    model_files = [*map(model_path, models)]
    translator_choices["longest_sentence"] = longest_sentence
    cluster = on_cluster.cluster(
        given_workers(translator_choices["workers"]), format_name, output_path, translator_choices["device"]
    )
    if cluster:
        from pocketmt.cli.bulk_translation import TranslationWork, translate_on_cluster

        if len(model_files) > 1:
            Translator(model_files)  # Finds here, not on the nodes, what does not fit.
        work = TranslationWork.of(model_files, search, translator_choices, check)
        translate_on_cluster(cluster, work, input_path, output_path, on_cluster.lines)
        return
    with naming_options():
        translator = Translator(model_files, **translator_choices)
        _translate(translator, input_path, output_path, records, format_name, search, check)


def _translate(
    translator: "Translator",
    input_path: Path | str | None,
    output_path: Path | str | None,
    records: RecordOptions,
    format_name: TextFormat,
    search: SearchChoices,
    check: bool,
) -> None:
    from pocketmt.engine.checks import MOST_WARNINGS, TranslationChecks

    name = str(input_path or "stdin")
    written = None if output_path is None else Path(output_path)
    with open_input(input_path) as source, open_output(written) as target:
        document: Document | HtmlDocument | None = (
            open_html(source, name, translator, search)
            if format_name == "html"
            else records.open(source, name, format_name, search.languages(translator))
        )
        checks = TranslationChecks(
            lambda message: warn(f"{name}, {message}"),
            name_argument=option_name,
            number_line=int if document is None else document.line_in_file,
        )
        count = translator.lines_at_once
        checked = checks if check else False
        if document is None:
            blocks = encode_chunks(search.translate(translator, read_chunks(source, name, count), checked))
        elif isinstance(document, Document):
            blocks = document.render(search.translate(translator, document.chunks(count), checked))
        else:
            blocks = translate_html(document, translator, search, checked)
        write_blocks(blocks, target, show_progress=not source.isatty())
    if checks.suspicious > MOST_WARNINGS:
        warn(f"{name}: {checks.suspicious:,} of {checks.lines:,} lines had such warnings")
