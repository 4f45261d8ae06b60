"""pocketmt train: a configuration and parallel text in, a folder with a trained model out."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE
from pocketmt.models.presets import PRESETS


@click.command(
    short_help="Train a model on parallel text.",
    epilog=f"Sizes that [model] may name as its preset: {', '.join(PRESETS)}.",
)
@click.argument("configuration", type=FILE)
@click.option("--output", "-o", type=FILE, required=True, help="Folder of the run: weights, vocabulary, log.")
def train(configuration: Path, output: Path) -> None:
    """Train the model that a TOML file describes.

    A run that was stopped, by Ctrl-C or in any other way, goes on where it was when it is called again in the same way.
    Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt train captions.toml --output runs/captions
      pocketmt pack runs/captions --scheme uniform8 --output captions.pocketmt
    """
    from pocketmt.training.configuration import read_configuration

    # A mistake in the configuration is told before PyTorch is loaded, which takes seconds.
    resolved = read_configuration(configuration)
    from pocketmt.recipes.any_model import open_teacher
    from pocketmt.training.loop import train as run_training

    run_training(resolved, output, open_teacher)
