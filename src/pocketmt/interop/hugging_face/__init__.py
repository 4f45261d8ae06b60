"""Hugging Face folders of Marian, M2M100 and NLLB models, as its package `transformers` writes them."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketmt.interop.format import Format

if TYPE_CHECKING:
    from pocketmt.interop.foreign_model import ForeignModel

CONFIGURATION: Final = "config.json"
CHECKPOINTS: Final = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)


def _recognizes(path: Path) -> bool:
    return (path / CONFIGURATION).is_file() and any((path / name).is_file() for name in CHECKPOINTS)


def _read(path: Path) -> "ForeignModel":
    from pocketmt.interop.hugging_face.model import read_model

    return read_model(path)


def _write(model: "ForeignModel", folder: Path) -> tuple[str, ...]:
    from pocketmt.interop.hugging_face.writing import write_model

    return write_model(model, folder)


HUGGING_FACE: Final = Format("hugging-face", "Hugging Face (Marian, M2M100, NLLB)", _recognizes, _read, _write)
