"""CTranslate2 model folders."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.interop.format import Format

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.ctranslate2.writing import export

    weights = {name: tensor.read() for name, tensor in model.tensors.items()}
    export(weights, model.architecture, model.vocabulary, folder)
    return ()


CTRANSLATE2: Final = Format("ctranslate2", "CTranslate2", write=_write)
