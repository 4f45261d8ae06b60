"""pocketmt shortlist: learn a lexical shortlist from parallel text and add it to a model file."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.atomic_file import resolved
from pocketmt.cli.endings import quoted, show_next
from pocketmt.cli.options import (
    FILE,
    GivenOnce,
    beam_size_option,
    check_replaces_nothing,
    is_given,
    json_option,
    require_both_sides,
)
from pocketmt.cli.streams import warn
from pocketmt.model_file.shortlist import MOST_TARGETS
from pocketmt.progress import ProgressLine
from pocketmt.text.corpus import both_sides
from pocketmt.text.formats.format import format_of

if TYPE_CHECKING:
    from pocketmt.evaluation.shortlist import Recall
    from pocketmt.model_file.shortlist_encoding import Shortlist

TOP_K = FREQUENT = 50


@click.command(short_help="Add a lexical shortlist to a model file, which makes it faster.")
@click.argument("model")
@click.option("--source", "-s", type=FILE, help="Source side of the text to learn from, or TSV, JSONL or TMX of both.")
@click.option(
    "--target",
    "-t",
    type=FILE,
    help="Its target side: references, or translations by a teacher (default: MODEL translates the text).",
)
@click.option(
    "--alignments",
    type=FILE,
    help="Word alignments of the text: links i-j, as fast_align and eflomal write them (default: by IBM model 1).",
)
@click.option(
    "--like",
    type=FILE,
    help="Copy the shortlist of this model file or bundled model, which must have the same vocabulary.",
)
@click.option(
    "--top-k",
    type=click.IntRange(1, MOST_TARGETS),
    help=f"Most probable target pieces of each source piece to keep (default: {TOP_K}).",
)
@click.option(
    "--frequent",
    type=click.IntRange(1),
    help=f"Most frequent target pieces to keep for all sentences (default: {FREQUENT}).",
)
@click.option(
    "--output", "-o", cls=GivenOnce, type=FILE, help="The model file to write (*.pocketmt). It may be MODEL itself."
)
@click.option("--recall-source", type=FILE, help="Held-out text to measure recall on, as --source.")
@click.option("--recall-target", type=FILE, help="Reference translation of that text, line by line.")
@beam_size_option
@json_option
def shortlist(
    model: str,
    source: Path | None,
    target: Path | None,
    alignments: Path | None,
    like: Path | None,
    top_k: int | None,
    frequent: int | None,
    output: Path | None,
    recall_source: Path | None,
    recall_target: Path | None,
    beam_size: int,
    as_json: bool,
) -> None:
    """Learn a shortlist of probable target pieces for each source piece from text, and add it to MODEL.

    MODEL is a model file (*.pocketmt) or the name of a bundled model. With a shortlist, a sentence is translated with
    the probable pieces of its source pieces and the most frequent pieces; other rows of the output matrix are not read.

    --recall-source and --recall-target measure recall: the share of the pieces of the reference, and of the model's
    output without a shortlist, that the shortlist contains. Without --source and --like, it is that of MODEL's
    shortlist. Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt shortlist my.pocketmt --source train.en --target train.de --output faster.pocketmt
      pocketmt shortlist faster.pocketmt --recall-source val.en --recall-target val.de
      pocketmt shortlist small.pocketmt --like faster.pocketmt --output small-faster.pocketmt
    """
    _check_usage(source, target, alignments, top_k or frequent, like, output, recall_source, recall_target)
    if output is not None and resolved(output) != resolved(Path(model)):
        check_replaces_nothing([output], [source, target, alignments, like, recall_source, recall_target])
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.shortlist import measure_recall
    from pocketmt.model_file.writer import check_model_output
    from pocketmt.packing.model_path import model_path
    from pocketmt.packing.shortlist import add_shortlist, held_shortlist

    if output is not None:
        check_model_output(output)
    path = model_path(model)
    if source is not None:
        found = _learn(path, source, target, alignments, top_k or TOP_K, frequent or FREQUENT, beam_size)
    else:
        found = held_shortlist(path if like is None else model_path(str(like)), of=path)
    record: dict[str, object] = {"model": model, "frequent": len(found.frequent)}
    record["targets"] = sum(map(len, found.targets))
    if recall_source is not None:
        recalled = both_sides(recall_source, recall_target)
        record["recall"] = recall = measure_recall(path, found, *recalled, beam_size)
        if not as_json:
            _show_recall(recall)
    if output is not None:
        before, written = path.stat().st_size, add_shortlist(path, found, output)
        record |= {"output": output, "bytes": written, "bytes_before": before}
        _show_written(output, written, before)
    if as_json:
        click.echo(to_json(record))


def _learn(
    path: Path,
    source: Path,
    target: Path | None,
    alignments: Path | None,
    top_k: int,
    frequent: int,
    beam_size: int,
) -> "Shortlist":
    """Learn a shortlist from parallel text, or from plain source text and the model's translations of it."""
    from pocketmt.packing.shortlist import learn_shortlist, translate_source

    with tempfile.TemporaryDirectory() as folder:
        if target is None and format_of(source) == "text":
            progress = ProgressLine("translated", "lines").update
            target = translate_source(path, source, Path(folder), beam_size, progress, warn)
        return learn_shortlist(
            path,
            *both_sides(source, target),
            top_k=top_k,
            frequent=frequent,
            alignments=alignments,
            iterated=ProgressLine("IBM model 1:", "iterations").update,
            warn=warn,
        )


def _check_usage(
    source: Path | None,
    target: Path | None,
    alignments: Path | None,
    size: int | None,
    like: Path | None,
    output: Path | None,
    recall_source: Path | None,
    recall_target: Path | None,
) -> None:
    if source is None and target is not None:
        raise click.UsageError("--target needs --source.")
    if source is not None and like is not None:
        raise click.UsageError("Give text to learn from or --like, not both.")
    if alignments is not None and source is None:
        raise click.UsageError("--alignments needs --source and --target, the text that was aligned.")
    if size is not None and source is None:
        raise click.UsageError("--top-k and --frequent need --source and --target, the text to learn from.")
    if recall_source is None and recall_target is not None:
        raise click.UsageError("--recall-target needs --recall-source.")
    if output is None and recall_source is None:
        raise click.UsageError("Give --output, or a text to measure recall on: --recall-source and --recall-target.")
    if output is not None and source is None and like is None:
        raise click.UsageError("Give text to learn from, --source and --target, or --like.")
    translated = source is not None and target is None and format_of(source) == "text"
    if is_given("beam_size") and recall_source is None and not translated:
        raise click.UsageError(
            "--beam-size needs --recall-source, or plain text as --source without --target: nothing else is translated."
        )
    if alignments is not None and source is not None:
        require_both_sides(source, target, "--target")
    if recall_source is not None:
        for path in require_both_sides(recall_source, recall_target, "--recall-target"):
            path.open("rb").close()  # An unreadable file is reported before the long part starts.


def _show_written(output: Path, size: int, before: int) -> None:
    click.echo(f"{output}: {size:,} bytes, before {before:,}", err=True)
    show_next(f"pocketmt benchmark {quoted(output)} TEXT")


def _show_recall(recall: "Recall") -> None:
    click.echo(f"recall of the reference:                              {recall.reference:.2%}")
    click.echo(f"recall of the model's translation without shortlist:  {recall.output:.2%}")
    click.echo(f"mean pieces of a sentence's shortlist:  {recall.mean_pieces:.0f} of {recall.vocabulary_size}")
