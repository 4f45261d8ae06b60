"""pocketmt train: train a model on parallel text."""

from pathlib import Path

import click

from pocketmt.cli.endings import quoted, show_next
from pocketmt.cli.options import FILE, GivenOnce, warn_of_languages
from pocketmt.models.presets import PRESETS


@click.command(
    short_help="Train a model on parallel text.",
    epilog=f"Presets that [model] may name: {', '.join(PRESETS)}.",
)
@click.argument("configuration", type=FILE)
@click.option(
    "--output", "-o", cls=GivenOnce, type=FILE, required=True, help="Folder of the run: weights, vocabulary and log."
)
def train(configuration: Path, output: Path) -> None:
    """Train the model that CONFIGURATION, a TOML file, describes.

    An interrupted run resumes when it is called again with the same arguments and text. Raise maximum_updates or
    patience in CONFIGURATION to continue a finished run. The result is that of one longer run if decay_updates is 0 and
    the old maximum_updates was a multiple of validate_every. threads, accelerator and checkpoint_every may change, too,
    and devices if batches_per_update is given. Files and folders may have been moved. Other changes need another
    folder. Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt train captions.toml --output runs/captions
      pocketmt pack runs/captions --scheme uniform8 --output captions.pocketmt
    """
    from pocketmt.training.configuration import read_configuration

    # A mistake in the configuration is reported before PyTorch is loaded, which takes seconds.
    resolved = read_configuration(configuration)
    warn_of_languages(resolved.data.languages)
    from pocketmt.model_file.report import bleu_title
    from pocketmt.packing.model_source import AnyModel
    from pocketmt.training.run import train as run_training
    from pocketmt.training.steps import is_first_process

    progress = run_training(resolved, output, AnyModel)
    if not is_first_process():
        return
    bleu = f"{bleu_title(progress.tokenization)} {progress.best_bleu:.1f}"
    click.echo(f"{output}: validation {bleu} at update {progress.best_update:,}", err=True)
    training = resolved.training
    if progress.update < training.maximum_updates:
        undecayed = training.decay_updates and progress.update <= training.maximum_updates - training.decay_updates
        when = f", before the last {training.decay_updates:,} updates, in which the learning rate falls" * bool(
            undecayed
        )
        click.echo(
            f"stopped early{when}: no better BLEU for {training.patience} validations; raise patience to go on",
            err=True,
        )
    name = quoted(Path(f"{output.absolute().name}.pocketmt"))
    show_next(
        f"pocketmt compress {quoted(output)} affine4-distilled --output {name}",
        f"pocketmt pack {quoted(output)} --output {name}",
    )
