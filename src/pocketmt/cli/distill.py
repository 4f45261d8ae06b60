"""pocketmt distill: translate text with teachers, for students to learn from."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.cli.cluster import RAY_HELP, FileOrAddress, cluster_of
from pocketmt.cli.endings import quoted, show_next
from pocketmt.cli.local_copies import local_copies
from pocketmt.cli.options import (
    FILE,
    beam_size_option,
    check_ensemble,
    check_n_best,
    check_replaces_nothing,
    device_option,
    parallel_output_option,
    precision_option,
)
from pocketmt.cli.streams import warn
from pocketmt.progress import ProgressLine
from pocketmt.text.cleaning import knows
from pocketmt.text.language_tags import primary_subtag, standard_tag

if TYPE_CHECKING:
    from pocketmt.distillation.teachers import Teachers
    from pocketmt.distributed.ray_pool import Cluster
    from pocketmt.training.translations import TranslateBlocks


@click.command(short_help="Translate text with teachers, for students to learn from.")
@click.argument("teachers", nargs=-1, required=True)
@click.option(
    "--text", "-t", "texts", type=FileOrAddress(), multiple=True, help="Plain text to translate. May be repeated."
)
@click.option(
    "--parallel",
    "-p",
    "parallel",
    type=FileOrAddress(),
    nargs=2,
    multiple=True,
    metavar="TEXT REFERENCES",
    help="With --n-best: text, and reference translations to choose by. May be repeated.",
)
@parallel_output_option
@click.option(
    "--folder", type=FILE, help="Folder for finished parts, to resume from (default: *.distillation next to SOURCE)."
)
@beam_size_option
@click.option(
    "--n-best",
    "-n",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Translations per line, at most the beam size: the most similar to the reference (sentence chrF) is taken.",
)
@click.option(
    "--back-translation",
    is_flag=True,
    help="Write the text as the target side and its translations as the source side.",
)
@click.option("--workers", "-w", type=click.IntRange(1), default=None, help="Threads (default: one per core).")
@device_option("auto")
@precision_option("float16 on a GPU, else float32")
@click.option("--ray", "ray_address", metavar="ADDRESS", default=None, help=RAY_HELP)
def distill(
    teachers: tuple[str, ...],
    texts: tuple[Path | str, ...],
    parallel: tuple[tuple[Path | str, Path | str], ...],
    outputs: tuple[Path, Path],
    folder: Path | None,
    beam_size: int,
    n_best: int,
    back_translation: bool,
    workers: int | None,
    device: str,
    precision: str | None,
    ray_address: str | None,
) -> None:
    """Translate text with TEACHERS, and write text and translations as two parallel files for students to learn from.

    TEACHERS are folders that `pocketmt train` wrote, model files, or names of bundled models. They are run by the
    engine, or on a GPU if PyTorch finds one. Several teachers with one vocabulary are an ensemble, which uses the mean
    of their log-probabilities. *.distillation.json next to the first output lists the sources of all lines.

    An interrupted distillation resumes when it is called again with the same arguments. It is refused if a text or a
    teacher has changed. Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt distill runs/teacher --text train.en --text news.en -o distilled.en distilled.de
      pocketmt distill runs/teacher1 runs/teacher2 --parallel train.en train.de -n 8 -b 8 -o distilled.en distilled.de
      pocketmt distill runs/de-en --text news.de --back-translation -o back.en back.de
    """
    _check(texts, parallel, beam_size, n_best)
    check_ensemble(teachers)
    check_replaces_nothing(outputs, [*teachers, *texts, *(text for pair in parallel for text in pair)])
    from pocketmt.distillation.teachers import Teachers
    from pocketmt.distillation.texts import Text
    from pocketmt.distillation.texts import distill as write_distilled
    from pocketmt.engine.devices import AUTOMATIC, NATIVE

    if ray_address is not None and device == AUTOMATIC:
        device = NATIVE  # A GPU of this machine says nothing about the workers.
    cluster = None if ray_address is None else cluster_of(ray_address, workers, device)
    work = outputs[0].with_name(outputs[0].name + ".distillation") if folder is None else folder
    loaded = Teachers(
        teachers, work, beam_size=beam_size, n_best=n_best, workers=workers, device=device, precision=precision
    )
    with local_copies([*(text for pair in parallel for text in pair), *texts]) as files:
        given = [Text(files[source], files[references]) for source, references in parallel]
        record = write_distilled(
            loaded,
            [*given, *(Text(files[text]) for text in texts)],
            *outputs,
            work,
            back_translation=back_translation,
            progress=ProgressLine("translated", "lines").update,
            translate_blocks=None if cluster is None else _on_cluster(cluster, loaded),
            names={file: str(text) for text, file in files.items()},
            warn=warn,
        )
    click.echo(f"{record.source.path}, {record.target.path}: {record.source.lines:,} lines", err=True)
    _show_cleaning(outputs, (record.languages["source"], record.languages["target"]), back_translation)


def _show_cleaning(outputs: tuple[Path, Path], languages: tuple[str, str], back_translation: bool) -> None:
    """Show the command that cleans the two files, with their languages if it knows both."""
    known = all(knows(primary_subtag(language)) for language in languages)
    named = f" --languages {' '.join(map(standard_tag, languages))}" if known else ""
    cleaned = " ".join(quoted(path.with_name(f"clean.{path.name}")) for path in outputs)
    side = " --written-by-model source" if back_translation else ""
    sides = " ".join(map(quoted, outputs))
    show_next(f"pocketmt clean {sides} --output {cleaned}{named}{side}")


def _on_cluster(cluster: "Cluster", teachers: "Teachers") -> "TranslateBlocks":
    """Return the translation of blocks by the teachers on a Ray cluster."""
    from pocketmt.distillation.teachers_on_cluster import translate_blocks_on_cluster

    return partial(translate_blocks_on_cluster, cluster, teachers, warn)


def _check(texts: Sequence[Path | str], parallel: Sequence[object], beam_size: int, n_best: int) -> None:
    """Raise click.UsageError if options do not fit together."""
    if not texts and not parallel:
        raise click.UsageError("Give --text, or --parallel.")
    if parallel and n_best == 1:
        raise click.UsageError(
            "--parallel needs --n-best: references choose among several translations. Give --text, or -n 8 -b 8."
        )
    if n_best > 1 and not parallel:
        raise click.UsageError("--n-best needs --parallel: the references choose among the translations.")
    check_n_best(n_best, beam_size)
