"""Export of a network in memory to a CTranslate2 folder, in full precision or in 8 bits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pocketmt.errors import ConfigurationError, DataError, InteropError
from pocketmt.interop.ctranslate2.writing import write_model
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, Float32, Tensor, of_array
from pocketmt.model_file.architecture import Architecture
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary

Quantization = Literal["none", "int8"]


def export(
    state_dict: Mapping[str, Any],
    architecture: Architecture,
    vocabulary: bytes,
    folder: Path,
    quantization: Quantization = "none",
) -> None:
    """Write a CTranslate2 model to a folder: `model.bin`, `config.json` and the vocabulary.

    Args:
        state_dict: tensors by PocketMT's parameter names, as NumPy arrays or PyTorch tensors on the CPU.
        architecture: architecture of the network.
        vocabulary: serialized SentencePiece model.
        folder: folder to write to, created if it is missing; files in it are replaced.
        quantization: "int8" stores every matrix in int8 with one scale per row, as CTranslate2 quantizes.

    Raises:
        ConfigurationError: CTranslate2 has no such network, or a tensor is missing, unknown or of another shape.
        DataError: the vocabulary is not a SentencePiece model or does not fit the embedding.
    """
    pieces = len(Vocabulary(vocabulary))
    if pieces != architecture.vocabulary_size:
        raise DataError(
            f"the vocabulary has {pieces} pieces, the model's embedding {architecture.vocabulary_size}: "
            "export a model with the vocabulary that it was trained with"
        )
    tensors: dict[str, Tensor] = {}
    for name, shape in architecture.parameter_shapes().items():
        if name not in state_dict:
            raise ConfigurationError(f"cannot export: the model has no tensor {name}")
        array = np.asarray(state_dict[name]).astype(np.float32, order="C")
        if array.shape != shape:
            raise ConfigurationError(
                f"cannot export: tensor {name} is {list(array.shape)}, the architecture says {list(shape)}"
            )
        tensors[name] = of_array(array) if quantization == "none" or array.ndim != 2 else _rounded(array)
    if unknown := sorted(state_dict.keys() - tensors.keys()):
        raise ConfigurationError(f"cannot export: the architecture has no place for tensor {unknown[0]}")
    stored = StoredVocabularies(StoredVocabulary(vocabulary))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        write_model(ForeignModel(architecture=architecture, tensors=tensors, vocabularies=stored), folder)
    except InteropError as error:
        raise ConfigurationError(f"cannot export: {error}") from error


def _rounded(weights: Float32) -> CodesTensor:
    """Return the codes that CTranslate2 gives a matrix: the largest magnitude of a row is 127."""
    largest = np.abs(weights).max(axis=1)
    largest[largest == 0] = 127
    codes = np.rint(weights * (127 / largest)[:, None]).astype(np.int8)
    return CodesTensor(weights.shape, (CodedRows(len(weights), largest / np.float32(127), lambda: codes),))
