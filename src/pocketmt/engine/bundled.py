"""Bundled models: those installed with the package, by name."""

import os
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError

FOLDER: Final = Path(__file__).resolve().parent.parent / "bundled"
SUFFIX: Final = ".pocketmt"


def bundled_models() -> dict[str, Path]:
    """Return name -> path of each bundled model."""
    return {path.name.removesuffix(SUFFIX): path for path in sorted(FOLDER.glob(f"*{SUFFIX}"))}


def resolve_model(model: str | os.PathLike[str]) -> Path:
    """Return the path of a model given by its path or by a bundled model's name; an existing path has precedence.

    Raises:
        ModelFileError: it is neither.
        TypeError: it is no path.
    """
    if not isinstance(model, str | os.PathLike):
        raise TypeError(f"model must be a path or the name of a bundled model, not {type(model).__name__}")
    if not str(model):
        raise ModelFileError("the path of the model is empty: give the path of a *.pocketmt file")
    path = Path(model)
    if path.exists():
        return path
    bundled = bundled_models()
    if str(model) in bundled:
        return bundled[str(model)]
    names = ", ".join(bundled) or "none"
    raise ModelFileError(f"{path}: no such file, and no bundled model of this name (bundled: {names}). Check the path")
