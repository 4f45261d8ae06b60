"""A model file of a size that is asked for, or of a loss that is tolerated: a recipe is chosen and carried out."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pocketmt.model_file.writer import OversizedError
from pocketmt.recipes.description.schema import Recipe, set_precision
from pocketmt.recipes.run_folder import choose_run_recipe, compress_run
from pocketmt.training.configuration import Configuration, Precision
from pocketmt.whole_file import check_output


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is asked for, as `choose_recipe` has it: one of size and damage, and the rest."""

    size: int | None = None
    damage: float | None = None
    updates: int = 0
    precision: Precision = "float32"  # of the updates
    entropy_coding: bool = False


def compress_run_to(
    target: Target,
    run: Path,
    folder: Path,
    output: Path,
    configuration: Configuration | None = None,
    *,
    licence: str = "",
    description: str = "",
    scored: Callable[[int, int], None] = lambda done, total: None,
    chosen: Callable[[Recipe], None] = lambda recipe: None,
) -> int:
    """Choose a recipe for the model of a run, run it and pack what it makes; returns the file's bytes.

    What entropy coding gains is known for certain when retraining has moved the codes: a file that has then become too
    large is not written; a recipe for as many bytes less is chosen and carried out, in a folder within the folder.

    Args:
        target: what is asked for.
        run, folder, output, configuration, licence, description: as of `compress_run`.
        scored: told how many networks are scored, of how many, before a recipe is chosen.
        chosen: told the recipe.

    Raises as `choose_run_recipe` and `compress_run` do.
    """
    check_output(output)
    size = target.size
    while True:
        recipe = choose_run_recipe(
            run,
            folder,
            size,
            target.damage,
            target.updates,
            configuration,
            entropy_coding=target.entropy_coding,
            progress=scored,
        )
        recipe = set_precision(recipe, target.precision)
        chosen(recipe)
        try:
            return compress_run(
                run,
                recipe,
                folder,
                output,
                configuration,
                licence=licence,
                description=description,
                entropy_coding=target.entropy_coding,
                maximum_size=target.size,
            )
        except OversizedError as error:
            assert size is not None and target.size is not None
            size -= error.size - target.size
            folder = folder / "smaller"
