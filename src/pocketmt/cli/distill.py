"""pocketmt distill: plain text and teachers in, parallel text for students out."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE, beam_size_option, parallel_output_option, show_translated


@click.command(short_help="Have models translate text for others to learn from.")
@click.argument("teachers", nargs=-1, required=True)
@click.option(
    "--text", "-t", "texts", type=FILE, multiple=True, help="Plain text to translate; may be given repeatedly."
)
@click.option(
    "--parallel",
    "-p",
    "parallel",
    type=FILE,
    nargs=2,
    multiple=True,
    metavar="TEXT REFERENCES",
    help="With --n-best: text, and the translations by which its own are picked; may be given repeatedly.",
)
@parallel_output_option
@click.option("--folder", type=FILE, help="Where the work resumes (default: beside the first output, *.distillation).")
@beam_size_option
@click.option(
    "--n-best",
    "-n",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Of so many translations the likest to the reference (sentence chrF) is taken. At most the beam size.",
)
@click.option(
    "--back-translation", is_flag=True, help="The text is the target side; the teachers translate it to the source."
)
@click.option("--workers", "-w", type=click.IntRange(1), default=None, help="Threads (default: one for each core).")
def distill(
    teachers: tuple[str, ...],
    texts: tuple[Path, ...],
    parallel: tuple[tuple[Path, Path], ...],
    outputs: tuple[Path, Path],
    folder: Path | None,
    beam_size: int,
    n_best: int,
    back_translation: bool,
    workers: int | None,
) -> None:
    """Translate text by TEACHERS, and write it with its translations, line by line, for students to learn from.

    TEACHERS are folders that `pocketmt train` wrote, model files, or names of bundled models. One is run by the engine.
    Several, of whatever sizes but of one vocabulary, are an ensemble: at each step the mean of their log-probabilities
    decides, in PyTorch. Beside the first output a record, *.distillation.json, says where every line came from.

    What was stopped, by Ctrl-C or in any other way, goes on where it was when it is called again in the same way; with
    another text or another teacher it is refused. Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt distill runs/teacher --text train.en --text news.en -o distilled.en distilled.de
      pocketmt distill runs/teacher1 runs/teacher2 --parallel train.en train.de -n 8 -b 8 -o distilled.en distilled.de
      pocketmt distill runs/de-en --text news.de --back-translation -o back.en back.de
    """
    if not texts and not parallel:
        raise click.UsageError("Give --text, or --parallel.")
    if parallel and n_best == 1:
        raise click.UsageError(
            "--parallel goes with --n-best: a reference picks among several. Give --text, or -n 8 -b 8."
        )
    if n_best > 1 and not parallel:
        raise click.UsageError("--n-best goes with --parallel: without references there is nothing to pick by.")
    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs a beam of at least that size: --beam-size {n_best}")
    from pocketmt.recipes.distillation.teachers import Teachers
    from pocketmt.recipes.distillation.texts import Text
    from pocketmt.recipes.distillation.texts import distill as write_distilled

    work = outputs[0].with_name(outputs[0].name + ".distillation") if folder is None else folder
    given = [Text(source, references) for source, references in parallel] + [Text(text) for text in texts]
    read = Teachers(teachers, work, beam_size=beam_size, n_best=n_best, workers=workers)
    record = write_distilled(read, given, *outputs, work, back_translation=back_translation, progress=show_translated)
    click.echo(f"{record.source.path}, {record.target.path}: {record.source.lines:,} lines", err=True)
