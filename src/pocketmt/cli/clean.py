"""pocketmt clean: parallel text in, what is good to learn from out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pocketmt.cli.options import FILE, parallel_output_option

if TYPE_CHECKING:
    from pocketmt.text.cleaning import CleaningReport, Cut

SHARE = click.FloatRange(0, 1)


@click.command(short_help="Leave out of parallel text what harms training.")
@click.argument("source", type=FILE)
@click.argument("target", type=FILE)
@parallel_output_option
@click.option(
    "--languages",
    nargs=2,
    default=None,
    metavar="SOURCE TARGET",
    help="As in `en de`: lines of other scripts and languages are left out. Needs pip install 'pocketmt[clean]'.",
)
@click.option("--maximum-length", type=click.IntRange(1), default=200, show_default=True, help="Words of a line.")
@click.option(
    "--maximum-ratio",
    type=click.FloatRange(1),
    default=4.0,
    show_default=True,
    help="Words of the longer line for each of the shorter one, 5 more allowed.",
)
@click.option(
    "--maximum-copied",
    type=SHARE,
    default=0.7,
    show_default=True,
    help="Share of the target's words that are the source's, where it has 4 or more.",
)
@click.option(
    "--maximum-repetitions",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Times that one to four words may follow one another.",
)
@click.option(
    "--minimum-letters",
    type=SHARE,
    default=0.5,
    show_default=True,
    help="Share of a line's characters that are letters of its language's script.",
)
@click.option(
    "--minimum-language-probability",
    type=SHARE,
    default=0.1,
    show_default=True,
    help="Of a line of 20 letters or more to be in its language; 0 identifies none.",
)
@click.option(
    "--improbable",
    type=SHARE,
    default=0.05,
    show_default=True,
    help="Share of the lines to leave out at the end: the largest cross-entropy a word. 0: none.",
)
@click.option(
    "--written-by-model",
    "side",
    type=click.Choice(["source", "target"]),
    default="target",
    show_default=True,
    help="The side whose cross-entropy counts: the target of translations, the source of back-translations.",
)
@click.option(
    "--language-model-text",
    "model_text",
    type=FILE,
    default=None,
    help="Good text in that side's language, which its language model learns (default: the text itself, in halves).",
)
@click.option(
    "--vocabulary",
    type=FILE,
    default=None,
    help="A SentencePiece vocabulary: its pieces count as words, for languages that are written without spaces.",
)
def clean(
    source: Path,
    target: Path,
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
    model_text: Path | None,
    vocabulary: Path | None,
) -> None:
    """Write the pairs of SOURCE and TARGET, line by line parallel, that are good to learn from.

    Rules look at each pair by itself, in the order of the table on stderr, which says how many pairs each took. At the
    end go the lines that a language model finds least probable: it learns --language-model-text, or else one half of
    the text for the other half. That, and identifying languages, needs pip install 'pocketmt[clean]'.

    \b
    Examples:
      pocketmt clean distilled.en distilled.de -o clean.en clean.de --languages en de --language-model-text news.de
      pocketmt clean back.en news.de -o clean.en clean.de --languages en de --written-by-model source
      pocketmt clean train.en train.ja -o clean.en clean.ja --vocabulary runs/ja/vocabulary.model --improbable 0
    """
    from pocketmt.text.clean_corpus import Improbable, clean_corpus
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
    asked = Improbable(improbable, side, model_text) if improbable else None
    report = clean_corpus(source, target, *outputs, cleaning, asked, _cut(vocabulary), _show_progress)
    _show_report(report, languages is not None, asked is not None)


def _cut(vocabulary: Path | None) -> "Cut":
    if vocabulary is None:
        return str.split
    from pocketmt.text.vocabulary import Vocabulary

    return Vocabulary.from_file(vocabulary).encode


def _show_progress(report: "CleaningReport") -> None:
    if sys.stderr.isatty():
        click.echo(f"\rread {report.read:,} pairs, kept {report.kept:,} ", nl=False, err=True)


def _show_report(report: "CleaningReport", languages: bool, improbable: bool) -> None:
    from pocketmt.evaluation.tables import Column, plain_table
    from pocketmt.text.cleaning import Reason

    unasked = {Reason.LETTERS: not languages, Reason.LANGUAGE: not languages, Reason.IMPROBABLE: not improbable}
    removed = [(reason.value, None if unasked.get(reason) else count) for reason, count in report.removed.items()]
    rows = [
        {"what": what, "pairs": pairs, "percent": None if pairs is None else 100 * pairs / max(report.read, 1)}
        for what, pairs in [*removed, ("kept", report.kept), ("read", report.read)]
    ]
    columns = [Column("what", "left out as"), Column("pairs", "pairs"), Column("percent", "%", ".2f")]
    click.echo(("\n" if sys.stderr.isatty() else "") + plain_table(rows, columns), err=True)
