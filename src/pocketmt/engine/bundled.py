"""Bundled models: those installed with the package, or by data packages beside it, by name."""

import os
import sys
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError

FOLDER: Final = Path(__file__).resolve().parent.parent / "bundled"
SUFFIX: Final = ".pocketmt"
# The folder of data packages, such as `pocketmt-everyday-de-en`, next to other installed packages.
DATA_PACKAGES: Final = "pocketmt_models"


def bundled_models() -> dict[str, Path]:
    """Return name -> path of each bundled model. Those of the package itself have precedence over data packages."""
    folders = [FOLDER, *(Path(each) / DATA_PACKAGES for each in sys.path)]
    found = {path.name.removesuffix(SUFFIX): path for folder in reversed(folders) for path in _model_files(folder)}
    return dict(sorted(found.items()))


def bundled_model(model: object) -> Path | None:
    """Return the path of a bundled model if a string is exactly its name, even if a file has this name; else None.

    `./NAME` and `Path(NAME)` are paths.
    """
    return bundled_models().get(model) if isinstance(model, str) and os.sep not in model else None


def resolve_model(model: str | os.PathLike[str]) -> Path:
    """Return the path of a model given by its path or by a bundled model's name.

    A string that is the name of a bundled model is that model; of other paths, such as `Path(NAME)`, an existing file
    has precedence.

    Raises:
        ModelFileError: it is neither.
        TypeError: it is no path.
    """
    if not isinstance(model, str | os.PathLike):
        raise TypeError(
            f"model must be a path, the name of a bundled model, or a list of them, not {type(model).__name__}"
        )
    if not str(model):
        raise ModelFileError("the path of the model is empty: give the path of a *.pocketmt file")
    if (named := bundled_model(model)) is not None:
        return named
    path = Path(model)
    try:
        if path.exists():
            return path
    except OSError as error:  # Such as a name that is too long.
        raise ModelFileError(f"{str(path)[:80]}: {error.strerror}. Check the path") from error
    bundled = bundled_models()
    if str(model) in bundled:
        return bundled[str(model)]
    names = ", ".join(bundled) or "none"
    raise ModelFileError(f"{path}: no such file, and no bundled model of this name (bundled: {names}). Check the path")


def _model_files(folder: Path) -> list[Path]:
    try:
        return list(folder.glob(f"*{SUFFIX}"))
    except OSError:  # A folder of sys.path that cannot be read has no models.
        return []
