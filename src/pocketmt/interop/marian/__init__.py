"""Marian models: an .npz file of weights with its configuration, and vocabularies beside it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.interop.format import Format

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel


def _recognizes(path: Path) -> bool:
    from pocketmt.interop.marian.files import weight_files

    return bool(weight_files(path))


def _read(path: Path) -> "ForeignModel":
    from pocketmt.interop.marian.model import read_model

    return read_model(path)


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.marian.writing import write_model

    return write_model(model, folder)


MARIAN: Final = Format("marian", "Marian (.npz)", _recognizes, _read, _write)
