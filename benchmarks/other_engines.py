"""Where another engine is installed, and models in the formats of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.data import ROOT
from pocketmt.errors import InteropError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.model_file import open_model
from pocketmt.packing.foreign import foreign_model_of

# bergamot's WebAssembly, which `make bergamot` installs.
BERGAMOT: Final = ROOT / "build" / "bergamot" / "node_modules" / "@browsermt" / "bergamot-translator"
Writer = Callable[[ForeignModel, Path], tuple[str, ...]]


def written(model: Path, folder: Path, write: Writer) -> Path | str:
    """Write a model for another engine; returns its folder, or why it cannot be written."""
    folder.mkdir()
    try:
        with open_model(model) as file:
            write(foreign_model_of(file), folder)
    except InteropError as error:
        return str(error)
    return folder
