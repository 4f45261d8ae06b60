"""CTranslate2 model folders."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.interop.format import Format

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel

_LISTS: Final = ("shared_vocabulary", "source_vocabulary")


def _recognizes(path: Path) -> bool:
    lists = (path / f"{name}.{ending}" for name in _LISTS for ending in ("json", "txt"))
    return (path / "model.bin").is_file() and any(each.is_file() for each in lists)


def _read(path: Path) -> "ForeignModel":
    from pocketmt.interop.ctranslate2.reading import read_model

    return read_model(path)


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.ctranslate2.writing import write_model

    return write_model(model, folder)


CTRANSLATE2: Final = Format("ctranslate2", "CTranslate2", _recognizes, _read, _write)
