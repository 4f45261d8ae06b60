"""pocketmt compress: a trained model and a recipe in, a small model file out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.cli.options import FILE, FileSize, entropy_coding_option, show_scored, show_translated

if TYPE_CHECKING:
    from pocketmt.recipes.choosing.target import Target
    from pocketmt.recipes.description.schema import Recipe
    from pocketmt.training.configuration import Precision

DEFAULT_UPDATES = 2000


def _list_recipes(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the recipes that come along, and exit."""
    if not wanted or context.resilient_parsing:
        return
    from pocketmt.recipes.description.catalogue import find_recipe, recipe_names

    for name in recipe_names():
        recipe = find_recipe(name)
        click.echo(f"{name}\n    {recipe.description}" + (f" [{recipe.paper}]" if recipe.paper else ""))
    context.exit()


@click.command(short_help="Make a trained model small by a recipe.")
@click.argument("run", type=FILE)
@click.argument("recipe", required=False)
@click.option("--output", "-o", type=FILE, default=None, help="The model file to write (*.pocketmt).")
@click.option(
    "--folder",
    type=FILE,
    default=None,
    help="Where the work is logged and resumes (default: beside the model file, *.compression).",
)
@click.option(
    "--configuration",
    type=FILE,
    default=None,
    help="A training configuration whose text and settings are used in place of the run's own.",
)
@click.option(
    "--source-text",
    type=FILE,
    default=None,
    help="Plain text to translate from: the model teaches by its own translations of it (see docs/recipes.md).",
)
@click.option("--target-size", type=FileSize(), default=None, help="In place of RECIPE: most bytes, as 900kB or 2MB.")
@click.option(
    "--tolerated-loss",
    type=click.FloatRange(0),
    default=None,
    help="In place of RECIPE: the rise in validation loss, nats a token, that is borne before retraining.",
)
@click.option(
    "--updates",
    type=click.IntRange(0),
    default=None,
    help=f"Updates of the retraining where there is no RECIPE (default: {DEFAULT_UPDATES}; 0: none).",
)
@click.option("--limit-updates", type=click.IntRange(1), default=None, help="Most updates of a stage, for a trial.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16-mixed"]),
    default=None,
    help="Of RECIPE's updates, in place of its own; mixed is faster on processors with units for bfloat16.",
)
@entropy_coding_option
@click.option("--licence", default="", help="The terms of the model, kept in the file.")
@click.option("--description", default="", help="What the model is, kept in the file.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_recipes,
    help="List the recipes, and exit.",
)
def compress(
    run: Path,
    recipe: str | None,
    output: Path | None,
    folder: Path | None,
    configuration: Path | None,
    source_text: Path | None,
    target_size: int | None,
    tolerated_loss: float | None,
    updates: int | None,
    limit_updates: int | None,
    precision: "Precision | None",
    entropy_coding: bool,
    licence: str,
    description: str,
) -> None:
    """Make the model of RUN, a folder that `pocketmt train` wrote, small by RECIPE: a TOML file, or a name of --list.

    With --target-size or --tolerated-loss, schemes and bits are chosen by what each part of the model bears, and it is
    retrained on its own text to write as before. With --entropy-coding the size is that of the coded file.

    With --folder and no --output no model file is written: the folder's log.jsonl has the scores. Recipes that quantize
    activations in a way that no model file holds, as q-naive-8bit, are run in this way alone.

    A compression that was stopped, by Ctrl-C or in any other way, goes on where it was when it is called again in the
    same way. Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt compress runs/captions l-log4-error-feedback --output captions4.pocketmt
      pocketmt compress runs/captions log4-sequence-distilled --source-text news.en --output news4.pocketmt
      pocketmt compress runs/captions --target-size 900kB --output captions-900kB.pocketmt
    """
    _check_usage(recipe, target_size, tolerated_loss, updates, source_text)
    _check_labels(output, entropy_coding, licence, description)
    from pocketmt.training.configuration import read_configuration

    work = folder if folder is not None or output is None else output.with_suffix(".compression")
    if work is None or (recipe is None and output is None):
        raise click.UsageError("Give --output, or with RECIPE --folder alone to have scores and no model file.")
    # A mistake in the recipe or the configuration is told before PyTorch is loaded, which takes seconds.
    most = sys.maxsize if limit_updates is None else limit_updates
    found = None if recipe is None else _found(recipe, most, precision)
    resolved = None if configuration is None else read_configuration(configuration)
    from pocketmt.recipes.choosing.target import compress_run_to
    from pocketmt.recipes.run_folder import Labels, Teaching, compress_run, score_run

    labels = Labels(licence=licence, description=description)
    text = Teaching(source_text=source_text, translated=show_translated)
    if output is None:
        assert found is not None
        _show_scores(work, score_run(run, found, work, resolved, **text))
        return
    if found is not None:
        size = compress_run(run, found, work, output, resolved, **labels, **text, entropy_coding=entropy_coding)
    else:
        retrained = min(most, DEFAULT_UPDATES if updates is None else updates)
        target = _target(target_size, tolerated_loss, retrained, precision, entropy_coding)
        size = compress_run_to(target, run, work, output, resolved, **labels, scored=show_scored, chosen=_show_chosen)
    click.echo(f"{output}: {size:,} bytes", err=True)


def _check_usage(
    recipe: str | None,
    size: int | None,
    loss: float | None,
    updates: int | None,
    source_text: Path | None,
) -> None:
    if (recipe is not None) + (size is not None) + (loss is not None) != 1:
        raise click.UsageError("Give one of RECIPE, --target-size and --tolerated-loss.")
    if recipe is not None and updates is not None:
        raise click.UsageError("--updates goes with --target-size or --tolerated-loss; a recipe says its own.")
    if recipe is None and source_text is not None:
        raise click.UsageError("--source-text goes with RECIPE.")


def _check_labels(output: Path | None, entropy_coding: bool, licence: str, description: str) -> None:
    if output is None and (entropy_coding or licence or description):
        raise click.UsageError("--entropy-coding, --licence and --description go with --output: the model file's.")


def _found(name: str, most: int, precision: "Precision | None") -> "Recipe":
    """Return a recipe as it shall be run; ConfigurationError where there is none or it is wrong."""
    from pocketmt.recipes.description.catalogue import find_recipe
    from pocketmt.recipes.description.schema import limit_updates, set_precision

    recipe = limit_updates(find_recipe(name), most)
    return recipe if precision is None else set_precision(recipe, precision)


def _target(
    size: int | None, damage: float | None, updates: int, precision: "Precision | None", entropy_coding: bool
) -> "Target":
    from pocketmt.recipes.choosing.target import Target

    return Target(
        size=size, damage=damage, updates=updates, precision=precision or "float32", entropy_coding=entropy_coding
    )


def _show_scores(work: Path, scores: dict[str, float]) -> None:
    shown = ", ".join(f"{name} {value:.4g}" for name, value in scores.items())
    click.echo(f"{work}: {shown}; no model file was asked for", err=True)


def _show_chosen(recipe: "Recipe") -> None:
    click.echo(f"chosen: {recipe.description}", err=True)
