"""Exporting: a model becomes the folder of another toolkit, which appears when it is complete."""

import secrets
import shutil
from pathlib import Path

from pocketmt.atomic_file import naming
from pocketmt.errors import ConfigurationError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.format import Format


def write_folder(model: ForeignModel, format: Format, folder: Path) -> tuple[str, ...]:
    """Write a model to a folder that does not exist yet.

    Returns:
        Notes on what the format holds only nearly or not at all, those of the model first.

    Raises:
        ConfigurationError: the folder exists, has no parent folder, or the format is only read.
        InteropError: naming what the format cannot hold.
    """
    if format.write is None:
        raise ConfigurationError(f"{format.title}: is only read, not written: choose another format")
    if folder.exists() or folder.is_symlink():
        raise ConfigurationError(f"{folder} exists already: name a folder that does not exist yet")
    if not folder.absolute().parent.is_dir():
        raise ConfigurationError(f"{folder}: folder {folder.parent} does not exist: create it first")
    # Without the name of the folder, whose length the file system may limit.
    unfinished = folder.absolute().with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        with naming(folder):
            unfinished.mkdir()
            notes = format.write(model, unfinished)
            unfinished.rename(folder)
    except OSError as error:
        if str(error.filename).startswith(str(unfinished)):
            error.filename = str(folder)  # The other one is of no use to the user.
        raise
    finally:  # Also after Ctrl-C.
        shutil.rmtree(unfinished, ignore_errors=True)
    return (*model.notes, *notes)
