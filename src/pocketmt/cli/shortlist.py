"""pocketmt shortlist: which pieces a translation may be made of, by those of its source."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.cli.options import FILE, beam_size_option, json_option
from pocketmt.model_file.shortlist import MOST_TARGETS
from pocketmt.whole_file import check_output

if TYPE_CHECKING:
    from pocketmt.evaluation.shortlist import Recall

LIKELIEST = FREQUENT = 50


@click.command(short_help="Give a model file a shortlist, which makes it faster.")
@click.argument("model")
@click.option("--source", "-s", type=FILE, help="Training text to learn from, a sentence a line.")
@click.option("--target", "-t", type=FILE, help="Its translation, line by line: by people, or by the model's teacher.")
@click.option("--alignments", type=FILE, help="Links i-j of the text's words (fast_align, eflomal); default: our own.")
@click.option("--like", type=FILE, help="In place of text: a model file of the same vocabulary, whose list is taken.")
@click.option(
    "--likeliest",
    type=click.IntRange(1, MOST_TARGETS),
    help=f"Target pieces kept of each source piece (default: {LIKELIEST}).",
)
@click.option(
    "--frequent", type=click.IntRange(1), help=f"Target pieces kept for every sentence (default: {FREQUENT})."
)
@click.option("--output", "-o", type=FILE, help="The model file to write (*.pocketmt); it may be MODEL itself.")
@click.option("--recall-source", type=FILE, help="Text to measure on, a sentence a line: none that was learnt from.")
@click.option("--recall-target", type=FILE, help="Its right translation, line by line.")
@beam_size_option
@json_option
def shortlist(
    model: str,
    source: Path | None,
    target: Path | None,
    alignments: Path | None,
    like: Path | None,
    likeliest: int | None,
    frequent: int | None,
    output: Path | None,
    recall_source: Path | None,
    recall_target: Path | None,
    beam_size: int,
    as_json: bool,
) -> None:
    """Learn from text which target pieces are likely beside each source piece, and put that into a model file.

    MODEL is a model file (*.pocketmt) or the name of a bundled model. A sentence is then translated with the pieces
    that are likely beside its own, and the most frequent ones; the other rows of the output matrix are not read.

    With --recall-source and --recall-target it is measured how many pieces, of the right translation and of what the
    model writes without a list, the lists hold; without --source and --like, on the list that MODEL already has.
    Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt shortlist my.pocketmt --source train.en --target train.de --output faster.pocketmt
      pocketmt shortlist faster.pocketmt --recall-source val.en --recall-target val.de
      pocketmt shortlist small.pocketmt --like faster.pocketmt --output small-faster.pocketmt
    """
    _check_usage(source, target, alignments, likeliest or frequent, like, output, recall_source, recall_target)
    from pocketmt.engine.bundled import resolve_model
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.shortlist import measure_recall
    from pocketmt.recipes.packing.shortlist import add_shortlist, held_shortlist, learn_shortlist

    path = resolve_model(model)
    if source is not None and target is not None:
        found = learn_shortlist(
            path,
            source,
            target,
            likeliest=likeliest or LIKELIEST,
            frequent=frequent or FREQUENT,
            alignments=alignments,
            iterated=_show_iterations,
        )
    else:
        found = held_shortlist(path) if like is None else held_shortlist(like, of=path)
    targets = sum(map(len, found.targets))
    record: dict[str, object] = {"model": model, "frequent": len(found.frequent), "targets": targets}
    if recall_source is not None and recall_target is not None:
        record["recall"] = recall = measure_recall(path, found, recall_source, recall_target, beam_size)
        if not as_json:
            _show_recall(recall)
    if output is not None:
        before, written = path.stat().st_size, add_shortlist(path, found, output)
        record |= {"output": output, "bytes": written, "bytes_before": before}
        click.echo(f"{output}: {written:,} bytes, before {before:,}", err=True)
    if as_json:
        click.echo(to_json(record))


def _check_usage(
    source: Path | None,
    target: Path | None,
    alignments: Path | None,
    pieces: int | None,
    like: Path | None,
    output: Path | None,
    recall_source: Path | None,
    recall_target: Path | None,
) -> None:
    if (source is None) != (target is None):
        raise click.UsageError("--source and --target go together.")
    if source is not None and like is not None:
        raise click.UsageError("Give text to learn from or --like, not both.")
    if alignments is not None and source is None:
        raise click.UsageError("--alignments goes with --source and --target, the text that was aligned.")
    if pieces is not None and source is None:
        raise click.UsageError("--likeliest and --frequent go with --source and --target, from which a list is learnt.")
    if (recall_source is None) != (recall_target is None):
        raise click.UsageError("--recall-source and --recall-target go together.")
    if output is None and recall_source is None:
        raise click.UsageError("Give --output, or a text to measure on: --recall-source and --recall-target.")
    if output is not None and source is None and like is None:
        raise click.UsageError("Give text to learn from, --source and --target, or --like.")
    if output is not None:
        check_output(output)
    for path in (recall_source, recall_target):
        if path is not None:
            path.open("rb").close()  # an error is told now, not after the long part


def _show_recall(recall: "Recall") -> None:
    click.echo(f"pieces of the reference in their list:             {recall.reference:.2%}")
    click.echo(f"pieces of the model's translation without a list:  {recall.output:.2%}")
    click.echo(f"pieces in a list:  {recall.mean_pieces:.0f} of {recall.vocabulary_size} (mean)")


def _show_iterations(done: int, total: int) -> None:
    click.echo(f"\rIBM model 1: iteration {done} of {total}" + ("\n" if done == total else ""), nl=False, err=True)
