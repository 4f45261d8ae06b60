"""Models of bergamot, which Firefox translates with: `*.bin`, `lex*.bin` and `*.spm` in one folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.interop.format import Format

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel


def _recognizes(path: Path) -> bool:
    files = [path] if path.is_file() else sorted(path.glob("[!.]*.bin")) if path.is_dir() else []
    if not (named := [file for file in files if file.suffix == ".bin"]):
        return False
    from pocketmt.interop.bergamot.container import is_container  # NumPy, which the runtime lacks

    return any(map(is_container, named))


def _read(path: Path) -> "ForeignModel":
    from pocketmt.interop.bergamot.reading import read_model

    return read_model(path)


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.bergamot.writing import write_model

    return write_model(model, folder)


BERGAMOT: Final = Format("bergamot", "bergamot (Firefox)", _recognizes, _read, _write)
