"""A model file of a given size, or of a tolerated loss: a recipe is chosen and executed."""

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pocketmt.compression.choosing.allocation import Target, choose_recipe
from pocketmt.compression.run import SMALLER, CompressionTask, compress_in_folder, compression_folder
from pocketmt.compression.texts import translated_text
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.writer import OversizedError, check_model_output
from pocketmt.progress import Progress, no_progress
from pocketmt.recipes.schema import Recipe, change_retraining


def compress_run_to(
    target: Target,
    task: CompressionTask,
    output: Path,
    *,
    scored: Progress = no_progress,
    chosen: Callable[[Recipe], None] = lambda recipe: None,
) -> int:
    """Choose a recipe for the model of a run, execute it and pack the result; returns the file's size in bytes.

    How much entropy coding saves is only known when retraining has moved the codes. A file that is then too large is
    not written: a recipe for a size that is smaller by the excess is chosen and executed, in a folder of that folder.

    Args:
        target: what is asked for.
        task: its maximum size and entropy coding are those of the target.
        output: the model file.
        scored: told how many networks are scored, of how many, before a recipe is chosen.
        chosen: told the recipe.

    Raises as `choose_recipe` and `compress_run` do.
    """
    check_model_output(output)
    task = dataclasses.replace(task, entropy_coding=target.entropy_coding, maximum_size=target.size)
    with compression_folder(task.folder):
        return _compress(target, task, output, scored, chosen)


def _compress(
    target: Target,
    task: CompressionTask,
    output: Path,
    scored: Progress,
    chosen: Callable[[Recipe], None],
) -> int:
    size = target.size
    task = dataclasses.replace(task, translations_folder=task.folder)  # The text is the same in all rounds.
    while True:
        model = task.read_model()
        make_corpus = None
        if task.source_text is not None and model.configuration is not None:
            raise ConfigurationError(
                f"{model.name} has its training text, on which choices are scored: leave {task.source_text} out"
            )
        if task.source_text is not None:
            folder = task.translations_folder or task.folder
            make_corpus = partial(translated_text, model, task.source_text, folder, task.translated)
        about = {"licence": task.licence, "description": task.description}
        wanted = dataclasses.replace(target, size=size)
        recipe = choose_recipe(model, task.folder, wanted, scored, make_corpus, about)
        recipe = change_retraining(recipe, precision=target.precision)
        chosen(recipe)
        try:
            return compress_in_folder(task, recipe, output)
        except OversizedError as error:
            assert size is not None and target.size is not None
            size -= error.size - target.size
            task.warn(
                f"the model file would have {error.size:,} bytes instead of {target.size:,}: a recipe for {size:,} "
                "bytes is chosen"
            )
            task = dataclasses.replace(task, folder=task.folder / SMALLER)
