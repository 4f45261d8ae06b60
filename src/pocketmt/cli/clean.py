"""pocketmt clean: remove pairs that harm training from parallel text."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pocketmt.atomic_file import check_output, is_special
from pocketmt.cli.cluster import ClusterOptions, FileOrAddress, cluster_options
from pocketmt.cli.local_copies import local_copies
from pocketmt.cli.options import (
    FILE,
    FiniteRange,
    check_replaces_nothing,
    is_given,
    option_name,
    parallel_output_option,
    require_both_sides,
)
from pocketmt.cli.streams import warn
from pocketmt.progress import ProgressLine

if TYPE_CHECKING:
    from pocketmt.distributed.ray_pool import Cluster
    from pocketmt.text.clean_corpus import CrossEntropyFilter
    from pocketmt.text.cleaning import Cleaning, CleaningReport, Verdict
    from pocketmt.text.vocabulary import Vocabulary

SHARE = FiniteRange(0, 1)


@click.command(short_help="Remove pairs that harm training from parallel text.")
@click.argument("source", type=FileOrAddress())
@click.argument("target", type=FileOrAddress(), required=False)
@parallel_output_option
@click.option(
    "--languages",
    nargs=2,
    default=None,
    metavar="SOURCE TARGET",
    help="Languages of the two sides, such as `en de`: pairs in other scripts or languages are removed. "
    "Requires pip install 'pocketmt[clean]'.",
)
@click.option("--maximum-length", type=click.IntRange(1), default=200, show_default=True, help="Most words per line.")
@click.option(
    "--maximum-ratio",
    type=FiniteRange(1),
    default=4.0,
    show_default=True,
    help="Largest ratio of the two lengths in words. The longer line may have 5 words more than that.",
)
@click.option(
    "--maximum-copied",
    type=SHARE,
    default=0.7,
    show_default=True,
    help="Largest share of the target's words that also occur in the source. Not checked below 4 words.",
)
@click.option(
    "--maximum-repetitions",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Largest number of times that one to four words may occur in succession.",
)
@click.option(
    "--minimum-letters",
    type=SHARE,
    default=0.5,
    show_default=True,
    help="Smallest share of a line's characters that are letters of its language's script.",
)
@click.option(
    "--minimum-language-probability",
    type=SHARE,
    default=0.1,
    show_default=True,
    help="Smallest probability that a line of 20 letters or more is in its language. 0: do not identify languages.",
)
@click.option(
    "--improbable",
    type=SHARE,
    default=0.05,
    show_default=True,
    help="Share of the remaining pairs to remove, by largest cross-entropy per word. 0: none.",
)
@click.option(
    "--written-by-model",
    "side",
    type=click.Choice(["source", "target"]),
    default="target",
    show_default=True,
    help="Side whose cross-entropy counts: the target of translations, the source of back-translations.",
)
@click.option(
    "--language-model-text",
    "model_text",
    type=FileOrAddress(),
    default=None,
    help="Good text in the language of that side, to train its language model on (default: each half of the side, "
    "to score the other half).",
)
@click.option(
    "--vocabulary",
    type=FILE,
    default=None,
    help="Folder of a run, model file, bundled model or SentencePiece file whose pieces count as words, for languages "
    "written without spaces.",
)
@cluster_options
def clean(
    source: Path | str,
    target: Path | str | None,
    outputs: tuple[Path, Path],
    languages: tuple[str, str] | None,
    maximum_length: int,
    maximum_ratio: float,
    maximum_copied: float,
    maximum_repetitions: int,
    minimum_letters: float,
    minimum_language_probability: float,
    improbable: float,
    side: Literal["source", "target"],
    model_text: Path | str | None,
    vocabulary: Path | None,
    on_cluster: ClusterOptions,
) -> None:
    """Write the pairs of SOURCE and TARGET, two parallel files, that are suitable for training.

    A TSV, JSONL or TMX file is SOURCE alone; it holds both sides.

    Rules check each pair separately, in the order of the table on stderr, which shows how many pairs each rule removed.
    The pairs that a language model finds least probable are removed last. That model is trained on
    --language-model-text, or on each half of the text to score the other half. The language model and language
    identification require pip install 'pocketmt[clean]'.

    \b
    Examples:
      pocketmt clean distilled.en distilled.de -o clean.en clean.de --languages en de --language-model-text news.de
      pocketmt clean memory.tmx -o clean.en clean.de --languages en de --improbable 0
      pocketmt clean back.en news.de -o clean.en clean.de --languages en de --written-by-model source
      pocketmt clean train.en train.ja -o clean.en clean.ja --vocabulary runs/ja --improbable 0
    """
    _check_usage(languages, improbable)
    if improbable:  # Without NumPy, this is an error before texts are copied or read.
        import_module("pocketmt.text.cross_entropy_filter")
    from pocketmt.text.clean_corpus import CrossEntropyFilter
    from pocketmt.text.cleaning import Cleaning

    cleaning = Cleaning(
        maximum_length=maximum_length,
        maximum_ratio=maximum_ratio,
        maximum_copied=maximum_copied,
        maximum_repetitions=maximum_repetitions,
        languages=languages,
        minimum_letters=minimum_letters if languages else 0.0,
        minimum_language_probability=minimum_language_probability if languages else 0.0,
    )
    check_replaces_nothing(outputs, [source, target, model_text, vocabulary])
    with local_copies([source, target, model_text]) as files:
        good_text = None if model_text is None else files[model_text]
        last_rule = CrossEntropyFilter(improbable, side, good_text) if improbable else None
        sides = require_both_sides(files[source], None if target is None else files[target], "TARGET")
        report = _clean(sides, outputs, cleaning, last_rule, vocabulary, on_cluster)
    _show_report(report, languages is not None, last_rule is not None)


def _check_usage(languages: tuple[str, str] | None, improbable: float) -> None:
    """Raise click.UsageError if an option is given that would have no effect."""
    for name in ("minimum_letters", "minimum_language_probability"):
        if languages is None and is_given(name):
            raise click.UsageError(f"{option_name(name)} needs --languages.")
    for name, option in (("side", "--written-by-model"), ("model_text", "--language-model-text")):
        if not improbable and is_given(name):
            raise click.UsageError(f"{option} has no effect with --improbable 0: leave one of them out.")


def _clean(
    sides: tuple[Path, Path],
    outputs: tuple[Path, Path],
    cleaning: "Cleaning",
    last_rule: "CrossEntropyFilter | None",
    vocabulary: Path | None,
    on_cluster: ClusterOptions,
) -> "CleaningReport":
    """Clean local files; the rules may be applied on a cluster."""
    from pocketmt.text.clean_corpus import clean_corpus

    verdicts, words = None, _read_vocabulary(vocabulary)
    lock: AbstractContextManager[None] = nullcontext()
    if (cluster := on_cluster.cluster(threads=1)) is not None:
        from pocketmt.text.clean_on_cluster import verdicts_folder

        folder = _folder_of_verdicts(outputs)
        # Called after the checks of `clean_corpus`, because it may take hours.
        verdicts = partial(_judge, cluster, sides, cleaning, words, folder, on_cluster.lines)
        lock = verdicts_folder(folder)
    progress = ProgressLine("read", "pairs")
    split = str.split if words is None else words.encode
    with lock:
        report = clean_corpus(
            *sides, *outputs, cleaning, last_rule, split, lambda found: progress.update(found.read), verdicts
        )
        progress.close()
    return report


def _folder_of_verdicts(outputs: tuple[Path, Path]) -> Path:
    """Return the folder for the work of a cluster, next to the first output that is a file.

    Raises click.UsageError if none is, and ConfigurationError as `check_output` does.
    """
    file = next((each for each in outputs if not is_special(each)), None)
    if file is None:
        raise click.UsageError("--ray keeps finished blocks next to an output: name a file as one of the outputs.")
    check_output(file)  # Locking the folder would create those above it.
    return file.with_name(f"{file.name}.cleaning")


def _judge(
    cluster: "Cluster",
    sides: tuple[Path, Path],
    cleaning: "Cleaning",
    words: "Vocabulary | None",
    folder: Path,
    block_lines: int,
) -> "Iterator[Verdict]":
    from pocketmt.text.clean_on_cluster import CleaningWork, judge_on_cluster

    work = CleaningWork(cleaning, None if words is None else words.model)
    progress = ProgressLine("judged", "pairs")
    verdicts = judge_on_cluster(cluster, *sides, work, folder, lines=block_lines, warn=warn, progress=progress.update)
    progress.close()
    return verdicts


def _read_vocabulary(path: Path | None) -> "Vocabulary | None":
    if path is None:
        return None
    from pocketmt.engine.bundled import bundled_model
    from pocketmt.training.given_vocabulary import read_vocabulary

    return read_vocabulary(
        bundled_model(str(path)) or path,
        "--vocabulary takes one vocabulary for both languages, as `pocketmt train` learns it, and this model has none: "
        "give the folder of a run, a model file made from one, or a SentencePiece file",
    )


def _show_report(report: "CleaningReport", languages: bool, improbable: bool) -> None:
    from pocketmt.evaluation.tables import Column, plain_table
    from pocketmt.text.cleaning import Reason

    disabled = {Reason.LETTERS: not languages, Reason.LANGUAGE: not languages, Reason.IMPROBABLE: not improbable}
    removed = [(reason.value, None if disabled.get(reason) else count) for reason, count in report.removed.items()]
    rows = [
        {"reason": reason, "pairs": pairs, "percent": None if pairs is None else 100 * pairs / max(report.read, 1)}
        for reason, pairs in [*removed, ("kept", report.kept), ("read", report.read)]
    ]
    columns = [Column("reason", "removed as"), Column("pairs", "pairs"), Column("percent", "%", ".2f")]
    click.echo(plain_table(rows, columns), err=True)
