"""CTranslate2 model folders."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.errors import InteropError
from pocketmt.interop.format import Format
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.ctranslate2.writing import export

    if model.vocabularies != StoredVocabularies(StoredVocabulary(model.vocabularies.source.model)):
        raise InteropError("CTranslate2: models with an id table or two vocabularies cannot be exported yet")
    weights = {name: tensor.read() for name, tensor in model.tensors.items()}
    export(weights, model.architecture, model.vocabularies.source.model, folder)
    return ()


CTRANSLATE2: Final = Format("ctranslate2", "CTranslate2", write=_write)
