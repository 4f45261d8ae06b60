"""Models of bergamot, which Firefox translates with: `*.bin`, `lex*.bin` and `*.spm` in one folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.interop.format import Format

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel


def _recognizes(path: Path) -> bool:
    from pocketmt.interop.bergamot.container import is_container

    if path.is_file():
        return path.suffix == ".bin" and is_container(path)
    return path.is_dir() and any(is_container(each) for each in path.glob("*.bin"))


def _read(path: Path) -> "ForeignModel":
    from pocketmt.interop.bergamot.reading import read_model

    return read_model(path)


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.bergamot.writing import write_model

    return write_model(model, folder)


BERGAMOT: Final = Format("bergamot", "bergamot (Firefox)", _recognizes, _read, _write)
