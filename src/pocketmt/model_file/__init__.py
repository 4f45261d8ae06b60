"""The model file: one safetensors file with manifest, vocabulary and packed weights (docs/reference/model-file.md)."""

from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.model_file.container.header import TensorEntry
from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.reader import ModelFile, open_model

__all__ = [
    "Architecture",
    "ModelFile",
    "StoredRowGroup",
    "TensorEntry",
    "TransformerArchitecture",
    "open_model",
]
