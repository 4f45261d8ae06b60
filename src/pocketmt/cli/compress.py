"""pocketmt compress: compress a trained model by a recipe."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketmt.cli.endings import quoted, show_model_file
from pocketmt.cli.options import (
    FILE,
    FileSize,
    FiniteRange,
    GivenOnce,
    check_model,
    check_replaces_nothing,
    description_option,
    entropy_coding_option,
    licence_option,
)
from pocketmt.cli.streams import warn
from pocketmt.errors import ConfigurationError, DataError, OtherNetworkError
from pocketmt.progress import ProgressLine

if TYPE_CHECKING:
    from pocketmt.compression.run import CompressionTask
    from pocketmt.recipes.schema import Recipe
    from pocketmt.training.configuration import Configuration, Precision

DEFAULT_UPDATES = 2000


def _list_recipes(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the built-in recipes, and exit."""
    if not wanted or context.resilient_parsing:
        return
    from pocketmt.recipes.catalogue import RECOMMENDED, find_recipe, recipe_names

    click.echo("Recommended:\n")
    for recommended in RECOMMENDED:
        click.echo(f"{recommended.name}\n    {recommended.size}. {recommended.use}")
        _show_recipe(find_recipe(recommended.name))
    click.echo("\nOthers:\n")
    for name in recipe_names():
        if all(name != each.name for each in RECOMMENDED):
            click.echo(name)
            _show_recipe(find_recipe(name))
    click.echo("\nAny size: --target-size instead of a recipe chooses schemes and bits for this model.")
    context.exit()


def _show_recipe(recipe: "Recipe") -> None:
    click.echo(f"    {recipe.description}" + (f" [{recipe.paper}]" if recipe.paper else ""))


@click.command(short_help="Compress a model by a recipe.")
@click.argument("model")
@click.argument("recipe", required=False)
@click.option("--output", "-o", cls=GivenOnce, type=FILE, default=None, help="The model file to write (*.pocketmt).")
@click.option(
    "--folder",
    type=FILE,
    default=None,
    help="Folder for the log and for results to resume from (default: *.compression next to the model file).",
)
@click.option(
    "--configuration",
    type=FILE,
    default=None,
    help="Training configuration whose text and settings replace those of MODEL.",
)
@click.option(
    "--source-text",
    "--text",
    type=FILE,
    default=None,
    help="Plain source text. The uncompressed model translates it. The compressed model learns from the translations, "
    "and is scored on some of them if there is no other text.",
)
@click.option(
    "--target-size",
    type=FileSize(),
    default=None,
    help="Instead of RECIPE: the largest size of the model file, such as 900kB or 2MB. With --entropy-coding, it is "
    "the size after coding.",
)
@click.option(
    "--tolerated-loss",
    type=FiniteRange(0),
    default=None,
    help="Instead of RECIPE: the largest rise in validation loss before retraining, in nats per token.",
)
@click.option(
    "--updates",
    type=click.IntRange(0),
    default=None,
    help=f"Updates of retraining without a RECIPE (default: {DEFAULT_UPDATES}; 0: no retraining).",
)
@click.option(
    "--limit-updates",
    type=click.IntRange(1),
    default=sys.maxsize,
    help="Most updates of each stage, for a quick trial.",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16-mixed"]),
    default=None,
    help="Precision of retraining (default: the recipe's). Mixed is faster on processors with bfloat16 units.",
)
@click.option(
    "--low-memory",
    is_flag=True,
    help="Quantize a model file matrix by matrix: memory holds its weights once, and at most 1 GB more. "
    "RECIPE must only quantize, as log4-compensated does.",
)
@entropy_coding_option
@licence_option
@description_option
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_recipes,
    help="List the built-in recipes and exit.",
)
def compress(
    model: str,
    recipe: str | None,
    output: Path | None,
    folder: Path | None,
    configuration: Path | None,
    source_text: Path | None,
    target_size: int | None,
    tolerated_loss: float | None,
    updates: int | None,
    limit_updates: int,
    precision: "Precision | None",
    low_memory: bool,
    entropy_coding: bool,
    licence: str,
    description: str,
) -> None:
    """Compress MODEL by RECIPE, a TOML file or the name of a built-in recipe (see --list).

    MODEL is a folder that `pocketmt train` wrote, a model file (*.pocketmt), such as one that `pocketmt import` wrote,
    or the name of a bundled model. A model file does not name its training text: give plain text with --source-text.

    With --target-size or --tolerated-loss, schemes and bits are chosen by the rise of the validation loss when each
    part of the model is quantized. The model is then retrained on its text to reproduce its earlier output.
    With --folder and without --output, no model file is written: the scores are in the folder's log.jsonl. Use this for
    recipes whose result no model file can hold. Requires pip install 'pocketmt[train]'.

    An interrupted compression resumes when called again with the same arguments and text, also if files have moved. A
    finished one continues if the last stage of RECIPE has more updates, no pruning and no linear learning rate.

    \b
    Examples:
      pocketmt compress runs/captions affine4-distilled --output captions4.pocketmt
      pocketmt compress runs/captions --target-size 900kB --output captions-900kB.pocketmt
      pocketmt compress opus-en-de.pocketmt log4-word-and-sequence-distilled --text news.en --output opus4.pocketmt
    """
    _check_usage(model, recipe, target_size, tolerated_loss, updates, precision)
    check_replaces_nothing([output], [model, recipe, configuration, source_text])
    work = _work_folder(folder, output, recipe, low_memory, bool(entropy_coding or licence or description))
    # A mistake in the recipe or the configuration is reported before PyTorch is loaded, which takes seconds.
    found = None if recipe is None else _find_recipe(recipe, limit_updates, precision)
    resolved = None if configuration is None else _read_configuration(configuration)
    from pocketmt.compression.run import CompressionTask

    task = CompressionTask(
        run=model,
        folder=work,
        configuration=resolved,
        source_text=source_text,
        translated=ProgressLine("translated", "lines").update,
        warn=warn,
        licence=licence,
        description=description,
        entropy_coding=entropy_coding,
    )
    if found is not None:
        with _naming_recipe(str(recipe)):
            _compress_by_recipe(task, found, output, low_memory)
    elif output is not None:
        _compress_to_target(task, output, target_size, tolerated_loss, updates, limit_updates, precision)


def _check_usage(
    model: str,
    recipe: str | None,
    size: int | None,
    loss: float | None,
    updates: int | None,
    precision: "Precision | None",
) -> None:
    if (recipe is not None) + (size is not None) + (loss is not None) != 1:
        raise click.UsageError("Give one of RECIPE, --target-size and --tolerated-loss.")
    if recipe is not None and updates is not None:
        raise click.UsageError("--updates needs --target-size or --tolerated-loss: a recipe sets its updates.")
    if updates == 0 and precision is not None:
        raise click.UsageError("--precision has no effect with --updates 0: leave one of them out.")
    check_model(model)


def _work_folder(
    folder: Path | None, output: Path | None, recipe: str | None, low_memory: bool, for_file: bool
) -> Path:
    """Return the folder of a compression; `for_file`: whether an option is given that only affects the model file."""
    if low_memory and (recipe is None or output is None):
        raise click.UsageError("--low-memory needs RECIPE and --output.")
    if output is None and for_file:
        raise click.UsageError("--entropy-coding, --licence and --description need --output, the model file.")
    if output is not None:
        return output.with_name(f"{output.name.removesuffix('.pocketmt')}.compression") if folder is None else folder
    if folder is None or recipe is None:
        raise click.UsageError("Give --output, or RECIPE and --folder to get scores without a model file.")
    return folder


def _read_configuration(path: Path) -> "Configuration":
    from pocketmt.training.configuration import read_configuration

    return read_configuration(path)


def _find_recipe(name: str, most_updates: int, precision: "Precision | None") -> "Recipe":
    """Return a recipe with limited updates and another precision; ConfigurationError if it is unknown or wrong.

    Raises click.UsageError if a precision is given, but no stage retrains.
    """
    from pocketmt.recipes.catalogue import find_recipe
    from pocketmt.recipes.schema import Retraining, change_retraining, limit_updates

    recipe = limit_updates(find_recipe(name), most_updates)
    if precision is None:
        return recipe
    if not any(isinstance(stage.retraining, Retraining) for stage in recipe.stages):
        raise click.UsageError(f"--precision has no effect: no stage of {name} retrains. Leave it out.")
    return change_retraining(recipe, precision=precision)


@contextmanager
def _naming_recipe(name: str) -> Iterator[None]:
    """Name the recipe in an error about one of its stages; who uses a built-in one is advised to choose another."""
    from pocketmt.recipes.catalogue import FOR_EVERY_NETWORK

    try:
        yield
    except OtherNetworkError as error:
        said = str(error)
        if other := FOR_EVERY_NETWORK.get(name):
            said = f"{error.problem}: choose another built-in recipe, such as {other}"
        raise ConfigurationError(f"{name}: {said}") from error
    except (ConfigurationError, DataError) as error:
        if str(error).startswith("stages["):
            raise (DataError if isinstance(error, DataError) else ConfigurationError)(f"{name}: {error}") from error
        raise


def _compress_by_recipe(task: "CompressionTask", recipe: "Recipe", output: Path | None, low_memory: bool) -> None:
    from pocketmt.compression.run import compress_run, score_run

    if output is not None and low_memory:
        from pocketmt.compression.matrix_by_matrix import compress_matrix_by_matrix

        compress_matrix_by_matrix(task, recipe, output, ProgressLine("quantized", "matrices").update)
        _show_result(task, output)
        return
    if output is not None:
        compress_run(task, recipe, output)
        _show_result(task, output)
        return
    scores = ", ".join(f"{name} {value:.4g}" for name, value in score_run(task, recipe).items())
    click.echo(f"{task.folder}: {scores}; no model file was requested", err=True)


def _compress_to_target(
    task: "CompressionTask",
    output: Path,
    size: int | None,
    loss_increase: float | None,
    updates: int | None,
    most_updates: int,
    precision: "Precision | None",
) -> None:
    from pocketmt.compression.choosing.allocation import Target
    from pocketmt.compression.choosing.target import compress_run_to

    target = Target(
        size=size,
        loss_increase=loss_increase,
        updates=min(most_updates, DEFAULT_UPDATES if updates is None else updates),
        precision=precision or "float32",
        entropy_coding=task.entropy_coding,
    )
    scored = ProgressLine("scored", "networks").update
    compress_run_to(target, task, output, scored=scored, chosen=_show_chosen)
    _show_result(task, output)


def _show_result(task: "CompressionTask", output: Path) -> None:
    name = quoted(output)
    show_model_file(
        output,
        f"pocketmt translate --model {name} < TEXT",
        if_no_shortlist=f"pocketmt shortlist {name} --source TRAINING.SOURCE --target TRAINING.TARGET --output {name}",
        made_from=task.run,
    )


def _show_chosen(recipe: "Recipe") -> None:
    click.echo(f"chosen: {recipe.description}", err=True)
