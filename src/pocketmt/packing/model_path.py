"""The path of a model that a command is given: a bundled model, a model file, a run, or a model of another toolkit."""

import os
from pathlib import Path

from pocketmt.engine.bundled import bundled_model, resolve_model
from pocketmt.interop.temporary import model_file_of


def model_path(model: str | os.PathLike[str]) -> Path:
    """Return the path of a model file or of the folder of a run; a model of another toolkit becomes a temporary file.

    A string that is the name of a bundled model is that model, as in `resolve_model`. Raises as `resolve_model` and
    `model_file_of` do.
    """
    return bundled_model(model) or resolve_model(model_file_of(model))
