"""pocketmt evaluate: translation quality of a model file on a parallel text."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE, beam_size_option, json_option, shortlist_option, workers_option


@click.command(short_help="Score a model's translations (BLEU, chrF).")
@click.option("--model", "-m", required=True, help="A model file (*.pocketmt), or the name of a bundled model.")
@click.option("--source", "-s", type=FILE, required=True, help="Text to translate, one sentence per line.")
@click.option("--reference", "-r", type=FILE, required=True, help="Reference translation, line by line.")
@click.option("--baseline", help="Another model to compare with, by a paired bootstrap test.")
@beam_size_option
@shortlist_option
@workers_option
@json_option
def evaluate(
    model: str,
    source: Path,
    reference: Path,
    baseline: str | None,
    beam_size: int,
    shortlist: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Translate a text with a model, and score the translation against a reference with sacreBLEU.

    Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt evaluate --model my.pocketmt --source test.en --reference test.de
      pocketmt evaluate --model small.pocketmt --baseline big.pocketmt --source test.en --reference test.de --json
    """
    from dataclasses import asdict

    from pocketmt.evaluation.model_file import evaluate_model
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.tables import Column, plain_table

    record = evaluate_model(
        model, source, reference, beam_size=beam_size, baseline=baseline, workers=workers, shortlist=shortlist
    )
    if as_json:
        click.echo(to_json(record))
        return
    quality = record.quality
    scores = [asdict(score) for score in (quality.bleu, quality.bleu_lowercased, quality.chrf)]
    columns = [Column.parse(column) for column in ("name=score", "value:.2f", "signature")]
    click.echo(plain_table(scores, columns))
    if record.differences:
        differences = [{**asdict(each), "gain": each.gain} for each in record.differences]
        compared = ("name=score", "baseline:.2f", "system:.2f=this model", "gain:+.2f=difference", "p_value:.4f=p")
        click.echo("\n" + plain_table(differences, [Column.parse(column) for column in compared]))
