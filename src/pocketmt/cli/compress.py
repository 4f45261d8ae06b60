"""pocketmt compress: a trained model and a recipe in, a small model file out."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE, FileSize, show_scored

DEFAULT_UPDATES = 2000


def _list_recipes(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the recipes that come along, and exit."""
    if not wanted or context.resilient_parsing:
        return
    from pocketmt.recipes.catalogue import find_recipe, recipe_names

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
    target_size: int | None,
    tolerated_loss: float | None,
    updates: int | None,
    limit_updates: int | None,
    licence: str,
    description: str,
) -> None:
    """Make the model of RUN, a folder that `pocketmt train` wrote, small by RECIPE: a TOML file, or a name of --list.

    With --target-size or --tolerated-loss, schemes and bits are chosen by what each part of the model bears, and the
    model is retrained on its own text to write as the uncompressed one does.

    With --folder and no --output no model file is written: the folder's log.jsonl has the scores. Recipes that quantize
    activations, which no model file holds yet, are run in this way alone.

    A compression that was stopped, by Ctrl-C or in any other way, goes on where it was when it is called again in the
    same way. Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt compress --list
      pocketmt compress runs/captions l-log4-error-feedback --output captions4.pocketmt
      pocketmt compress runs/captions my-recipe.toml --limit-updates 10 --output trial.pocketmt
      pocketmt compress runs/captions --target-size 900kB --output captions-900kB.pocketmt
    """
    if (recipe is not None) + (target_size is not None) + (tolerated_loss is not None) != 1:
        raise click.UsageError("Give one of RECIPE, --target-size and --tolerated-loss.")
    if recipe is not None and updates is not None:
        raise click.UsageError("--updates goes with --target-size or --tolerated-loss; a recipe says its own.")
    from pocketmt.recipes.catalogue import find_recipe
    from pocketmt.recipes.schema import limit_updates as limited
    from pocketmt.training.configuration import read_configuration

    work = folder if folder is not None or output is None else output.with_suffix(".compression")
    if work is None:
        raise click.UsageError("Give --output, or --folder alone to have scores and no model file.")
    # A mistake in the recipe or the configuration is told before PyTorch is loaded, which takes seconds.
    found = None if recipe is None else find_recipe(recipe)
    resolved = None if configuration is None else read_configuration(configuration)
    from pocketmt.recipes.run_folder import choose_run_recipe, compress_run, score_run

    if found is None:
        wanted = DEFAULT_UPDATES if updates is None else updates
        found = choose_run_recipe(run, work, target_size, tolerated_loss, wanted, resolved, show_scored)
        click.echo(f"chosen: {found.description}", err=True)
    if limit_updates is not None:
        found = limited(found, limit_updates)
    if output is None:
        scores = score_run(run, found, work, resolved)
        shown = ", ".join(f"{name} {value:.4g}" for name, value in scores.items())
        click.echo(f"{work}: {shown}; no model file was asked for", err=True)
        return
    size = compress_run(run, found, work, output, resolved, licence=licence, description=description)
    click.echo(f"{output}: {size:,} bytes", err=True)
