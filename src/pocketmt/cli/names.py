"""pocketmt names: learn which words parallel text translates, and add them to a model file."""

from pathlib import Path

import click

from pocketmt.atomic_file import resolved
from pocketmt.cli.endings import quoted, show_next
from pocketmt.cli.options import FILE, GivenOnce, check_replaces_nothing, json_option, require_both_sides


@click.command(short_help="Let a model file keep names that its training text did not have.")
@click.argument("model")
@click.option("--source", "-s", type=FILE, help="Source side of the training text, or TSV, JSONL or TMX of both.")
@click.option("--target", "-t", type=FILE, help="Its target side, written by people or by a teacher.")
@click.option(
    "--like",
    type=FILE,
    help="Copy the known words of this model file or bundled model, which must have the same languages.",
)
@click.option(
    "--output",
    "-o",
    cls=GivenOnce,
    type=FILE,
    required=True,
    help="The model file to write (*.pocketmt). It may be MODEL itself.",
)
@json_option
def names(model: str, source: Path | None, target: Path | None, like: Path | None, output: Path, as_json: bool) -> None:
    """Learn from MODEL's training text which words it translates, and add these known words to MODEL.

    MODEL is a model file (*.pocketmt) or the name of a bundled model. A word with a capital that is no known word may
    be a name. If the translation of a sentence lacks it, the sentence is translated again with a name that models
    know, which the word then replaces. Words that the text copies, as it does most names, do not count as known words.

    Known words take two bytes each. Of more than 100,000, the most frequent are taken. Give all of the training text:
    a word that is not in it counts as a name.

    \b
    Examples:
      pocketmt names my.pocketmt --source train.en --target train.de --output my.pocketmt
      pocketmt names small.pocketmt --like my.pocketmt --output small.pocketmt
    """
    if (source is None) == (like is None):
        raise click.UsageError("Give text to learn from, --source and --target, or --like.")
    if source is None and target is not None:
        raise click.UsageError("--target needs --source.")
    if resolved(output) != resolved(Path(model)):
        check_replaces_nothing([output], [source, target, like])
    from pocketmt.evaluation.records import to_json
    from pocketmt.model_file.writer import check_model_output
    from pocketmt.packing.known_words import add_known_words, held_known_words, learn_known_words
    from pocketmt.packing.model_path import model_path

    check_model_output(output)
    path = model_path(model)
    record: dict[str, object] = {"model": model}
    if source is not None:
        learnt = learn_known_words(path, *require_both_sides(source, target, "--target"))
        words = learnt.words
        record |= {"known": learnt.translated, "copied": learnt.copied}
    else:
        assert like is not None
        words = held_known_words(model_path(str(like)), path)
    before, written = path.stat().st_size, add_known_words(path, words, output)
    if not as_json and source is not None:
        click.echo(f"{record['known']:,} known words; {record['copied']:,} words are copied")
    click.echo(f"{output}: {written:,} bytes, before {before:,}", err=True)
    show_next(f"pocketmt translate --model {quoted(output)} < TEXT")
    if as_json:
        click.echo(to_json(record | {"output": output, "bytes": written, "bytes_before": before}))
