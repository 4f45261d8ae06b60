"""pocketmt evaluate: quality of a model file on a parallel text, or of existing translations."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pocketmt.atomic_file import resolved
from pocketmt.cli.options import (
    FILE,
    GivenOnce,
    beam_size_option,
    check_ensemble,
    check_model,
    device_option,
    is_given,
    json_option,
    shortlist_option,
    source_language_option,
    target_language_option,
    workers_option,
)
from pocketmt.cli.streams import warn
from pocketmt.errors import PocketMTError
from pocketmt.text.corpus import is_plain
from pocketmt.text.formats.format import format_of

if TYPE_CHECKING:
    from pocketmt.evaluation.existing_translations import TranslationsRecord
    from pocketmt.evaluation.model_file import QualityRecord
    from pocketmt.evaluation.quality import Difference, Quality

# Options of the search, by the names of their parameters.
_OF_MODEL: Final = {
    "beam_size": "--beam-size",
    "workers": "--workers",
    "shortlist": "--shortlist/--no-shortlist",
    "device": "--device",
    "source_language": "--source-language",
    "target_language": "--target-language",
}


@click.command(short_help="Score the translations of a model, or existing ones (BLEU, chrF).")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    help="A model file (*.pocketmt), the name of a bundled model, or a model that `pocketmt import` reads. May be "
    "repeated, for an ensemble.",
)
@click.option(
    "--translations",
    "-t",
    type=FILE,
    multiple=True,
    help="Existing translations to score instead, line by line. May be repeated, for several systems.",
)
@click.option(
    "--source", "-s", cls=GivenOnce, type=FILE, help="With --model: text to translate, one sentence per line."
)
@click.option(
    "--references",
    "--reference",
    "-r",
    type=FILE,
    multiple=True,
    help="Reference translations, line by line. Repeat the option for several references of each line.",
)
@click.option(
    "--baseline",
    cls=GivenOnce,
    help="Model, or file of translations, to compare with by a paired bootstrap test (1,000 samples).",
)
@beam_size_option
@shortlist_option
@workers_option
@device_option("auto")
@source_language_option
@target_language_option
@json_option
def evaluate(
    models: tuple[str, ...],
    translations: tuple[Path, ...],
    source: Path | None,
    references: tuple[Path, ...],
    baseline: str | None,
    beam_size: int,
    shortlist: bool,
    workers: int,
    device: str,
    source_language: str | None,
    target_language: str | None,
    as_json: bool,
) -> None:
    """Score translations against references with sacreBLEU: those of a model, or existing ones in files.

    The signature of each score says how it was computed: BLEU counts words, and characters in scripts without spaces.
    --source may be a TSV, JSONL or TMX file, which holds the references too. Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt evaluate --model my.pocketmt --source test.en --references test.de
      pocketmt evaluate --model small.pocketmt --baseline big.pocketmt --source test.en --references test.de --json
      pocketmt evaluate --translations ours.de --translations theirs.de --baseline before.de --references test.de
    """
    if bool(models) == bool(translations):
        raise click.UsageError("Give --model or --translations, one of the two.")
    from pocketmt.evaluation.records import to_json

    if not models:
        _check_translations(translations, source, references, baseline)
        from pocketmt.evaluation.existing_translations import evaluate_translations

        scored = evaluate_translations(translations, references, None if baseline is None else Path(baseline))
        click.echo(to_json(scored) if as_json else _systems_table(scored))
        return
    check_ensemble(models)
    source = _source(source, references, baseline)
    from dataclasses import replace

    from pocketmt.evaluation.model_file import evaluate_model
    from pocketmt.packing.model_path import model_path

    record = evaluate_model(
        [*map(model_path, models)],
        source,
        references or (source,),
        beam_size=beam_size,
        baseline=None if baseline is None else model_path(baseline),
        workers=workers,
        shortlist=shortlist if is_given("shortlist") else None,  # The default depends on the device.
        device=device,
        languages=(source_language, target_language),
    )
    record = replace(record, model=" + ".join(models), baseline=baseline)
    click.echo(to_json(record) if as_json else _model_table(record))


def _source(source: Path | None, references: Sequence[Path], baseline: str | None) -> Path:
    """Return the text to translate; raises click.UsageError if options are missing or do not go with --model."""
    if source is None or (not references and format_of(source) == "text"):
        raise click.UsageError("--model needs --source and --references, or a TSV, JSONL or TMX file as --source.")
    if baseline is not None and Path(baseline).is_file() and not _is_model(baseline):
        raise click.UsageError(f"--model needs a model as --baseline, which {baseline} is not.")
    return source


def _check_translations(
    translations: Sequence[Path], source: Path | None, references: Sequence[Path], baseline: str | None
) -> None:
    """Raise click.UsageError if options are given that do not go with --translations; warn of a file given twice."""
    if source is not None or not references:
        raise click.UsageError("--translations need --references, and take no --source.")
    for name, option in _OF_MODEL.items():
        if is_given(name):
            raise click.UsageError(f"{option} needs --model: existing translations are not searched again.")
    for path in translations:
        if is_plain(path) and resolved(path) in map(resolved, references):
            warn(f"{path} is scored against itself: give the references of other translators")
    if baseline is not None and _is_model(baseline):
        raise click.UsageError(f"--translations need a file of translations as --baseline, not a model: {baseline}")


def _is_model(name: str) -> bool:
    """Return whether a name is that of a model, also of one that is damaged."""
    if name.endswith(".pocketmt"):
        return True
    try:
        check_model(name)
    except PocketMTError:
        return False
    return True


def _model_table(record: "QualityRecord") -> str:
    tables = [_scores_table([record.quality])]
    if record.differences:
        tables.append(_differences_table([("this model", record.differences)], record.quality.lines))
    return "\n\n".join(tables)


def _systems_table(record: "TranslationsRecord") -> str:
    from pocketmt.model_file.report import printable

    names = [printable(system.translations) for system in record.systems]
    tables = [_scores_table([system.quality for system in record.systems], names)]
    compared = zip(names, (system.differences for system in record.systems), strict=True)
    differences = [(name, found) for name, found in compared if found]
    if differences:
        tables.append(_differences_table(differences, record.systems[0].quality.lines))
    return "\n\n".join(tables)


def _scores_table(qualities: "Sequence[Quality]", names: Sequence[str] = ()) -> str:
    from dataclasses import asdict

    from pocketmt.evaluation.tables import Column, plain_table

    rows = [
        {"system": name, **asdict(score)}
        for name, quality in zip(names or [""], qualities, strict=True)
        for score in (quality.bleu, quality.bleu_lowercased, quality.chrf)
    ]
    columns = (["system"] if len(names) > 1 else []) + ["name=score", "value:.2f", "signature"]
    return plain_table(rows, [Column.parse(column) for column in columns])


def _differences_table(systems: "Sequence[tuple[str, Sequence[Difference]]]", lines: int) -> str:
    from dataclasses import asdict

    from pocketmt.evaluation.quality import few_lines_warning
    from pocketmt.evaluation.tables import Column, plain_table

    rows = [
        {"compared": name, **asdict(each), "gain": each.gain} for name, differences in systems for each in differences
    ]
    columns = ("compared=system", "name=score", "baseline:.2f", "system:.2f=value", "gain:+.2f=difference")
    table = plain_table(rows, [Column.parse(column) for column in (*columns, "p_value:.4f=p")])
    return f"{table}\n{few_lines_warning(lines)}".rstrip()
