"""Packing: a PyTorch model's parameters, a choice of schemes, and a vocabulary become one model file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

import numpy as np
import torch
from torch import Tensor

from pocketmt import __version__
from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.architecture import Architecture, architecture_to_json, parameter_shapes
from pocketmt.model_file.bit_packing import pack_nibbles
from pocketmt.model_file.layout import TensorForm, scheme_from_json
from pocketmt.model_file.manifest import FORMAT_VERSION
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.quantization import Logarithmic, Scheme, Uniform
from pocketmt.text.vocabulary import Vocabulary

FLOAT32: Final = "float32"
SCHEMES: Final[dict[str, Scheme]] = {
    "uniform8": Uniform(),
    "logarithmic4-row": Logarithmic("row"),
    "logarithmic4-matrix": Logarithmic("matrix"),
}
# What `--scheme` takes: patterns of matrix names (first match wins) -> scheme.
PRESETS: Final[dict[str, dict[str, str]]] = {
    "float32": {"*": FLOAT32},
    "uniform8": {"*": "uniform8"},
    # The embedding has most of all rows: a scale for each would cost more bytes than it is worth.
    "logarithmic4": {"embedding.weight": "logarithmic4-matrix", "*": "logarithmic4-row"},
}


@dataclass(frozen=True, kw_only=True)
class About:
    """What the manifest says beside the weights; recipe and training are JSON objects of the writer's choice."""

    source_language: str
    target_language: str
    licence: str = ""
    description: str = ""
    recipe: Mapping[str, object] = field(default_factory=dict)
    training: Mapping[str, object] = field(default_factory=dict)


def pack(
    path: str | os.PathLike[str],
    state: Mapping[str, Tensor],
    architecture: Architecture,
    vocabulary: bytes,
    schemes: str | Mapping[str, str],
    about: About,
) -> int:
    """Write a model file.

    Args:
        path: of the file, replaced when the new one is complete.
        state: the model's state dict: every parameter of the architecture and nothing else.
        architecture: of the model.
        vocabulary: the serialized SentencePiece model, of architecture.vocabulary_size pieces.
        schemes: a name in PRESETS, or pattern of matrix names -> name in SCHEMES or "float32"; the first that fits
            decides.
        about: the rest of the manifest.

    Returns:
        The file's size in bytes.

    Raises:
        ConfigurationError: unknown preset or scheme, a pattern that fits no matrix, or a matrix that fits no pattern.
        ModelFileError: parameters or vocabulary do not fit the architecture or are not finite, or the disk refuses.
        DataError: the vocabulary is no SentencePiece model.
    """
    shapes = parameter_shapes(architecture)
    chosen = choose_schemes([name for name, shape in shapes.items() if len(shape) == 2], schemes)
    _check_state(state, shapes)
    if (pieces := len(Vocabulary(vocabulary))) != architecture.vocabulary_size:
        raise ModelFileError(
            f"the vocabulary has {pieces} pieces, the model {architecture.vocabulary_size}: not its own"
        )
    entries: list[dict[str, object]] = []
    matrices: dict[str, list[list[int]]] = {}
    tensors: dict[str, StoredTensor] = {}
    for name in shapes:
        weight = state[name].detach().to("cpu", torch.float32)
        scheme = chosen.get(name)
        if scheme is None:
            tensors[name] = _stored(weight, "F32")
            continue
        entry = scheme.description()
        if entry not in entries:
            entries.append(entry)
        matrices[name] = [[entries.index(entry), len(weight)]]
        for suffix, tensor in _encode(weight, scheme).items():
            tensors[f"{name}.0.{suffix}"] = tensor
    manifest = {
        "architecture": architecture_to_json(architecture),
        "vocabulary": {"encoding": "xz", "bytes": len(vocabulary), "normalization": "nfkc"},
        "schemes": entries,
        "matrices": matrices,
    }
    return write_model(path, manifest | _provenance(about), tensors, vocabulary)


def choose_schemes(matrices: list[str], schemes: str | Mapping[str, str]) -> dict[str, Scheme]:
    """Return each quantized matrix's scheme; raises ConfigurationError as `pack` says."""
    if isinstance(schemes, str):
        if schemes not in PRESETS:
            raise ConfigurationError(f"unknown scheme {schemes!r}: choose one of {', '.join(PRESETS)}")
        schemes = PRESETS[schemes]
    for pattern, choice in schemes.items():
        if choice != FLOAT32 and choice not in SCHEMES:
            known = ", ".join((FLOAT32, *SCHEMES))
            raise ConfigurationError(f"schemes: {pattern!r} has the unknown scheme {choice!r}: choose one of {known}")
        if not any(fnmatchcase(name, pattern) for name in matrices):
            raise ConfigurationError(f"schemes: the pattern {pattern!r} fits no matrix, e.g. not {matrices[-1]!r}")
    chosen = {}
    for name in matrices:
        fitting = [choice for pattern, choice in schemes.items() if fnmatchcase(name, pattern)]
        if not fitting:
            raise ConfigurationError(f"schemes: no pattern fits the matrix {name!r}: add one, e.g. '*' last")
        if fitting[0] != FLOAT32:
            chosen[name] = SCHEMES[fitting[0]]
    return chosen


def _provenance(about: About) -> dict[str, object]:
    """Return the members of the manifest that are not about the tensors."""
    return {
        "format_version": FORMAT_VERSION,
        "languages": {"source": about.source_language, "target": about.target_language},
        "recipe": dict(about.recipe),
        "licence": about.licence,
        "producer": f"pocketmt {__version__}",
        "training": dict(about.training),
        "description": about.description,
    }


def _check_state(state: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    for name in state:
        if name not in shapes:
            raise ModelFileError(
                f"the parameter {name!r} is not part of the architecture: pack the model that it states"
            )
    for name, shape in shapes.items():
        if name not in state:
            raise ModelFileError(f"the parameter {name!r} is missing: pack the model that the architecture states")
        if tuple(state[name].shape) != shape:
            raise ModelFileError(f"the parameter {name!r} has shape {list(state[name].shape)}, expected {list(shape)}")
        if not bool(torch.isfinite(state[name].to(torch.float32)).all()):
            raise ModelFileError(f"the parameter {name!r} holds NaN or infinity: pack a checkpoint from before that")


def _encode(weight: Tensor, scheme: Scheme) -> dict[str, StoredTensor]:
    """Return suffix -> tensor of one row group, in the dtypes and shapes of the file's layout."""
    forms: dict[str, TensorForm] = scheme_from_json(scheme.description(), "scheme").tensors(*weight.shape)
    parameters = scheme.fit(weight)
    values = {"codes": scheme.assign(weight, parameters), **parameters}
    return {suffix: _stored(values[suffix], dtype, packed=scheme.bits < 8) for suffix, (dtype, _) in forms.items()}


def _stored(tensor: Tensor, dtype: str, packed: bool = False) -> StoredTensor:
    """Return a tensor's little-endian bytes in the given dtype; U8 codes are packed into nibbles where asked."""
    shape = tuple(tensor.shape)
    if dtype == "BF16":
        array = tensor.to(torch.bfloat16).view(torch.int16).numpy().astype("<i2")
    elif dtype == "F32":
        array = tensor.numpy().astype("<f4")
    elif dtype == "U8" and packed:
        array = pack_nibbles(tensor.numpy())
        shape = array.shape
    else:
        array = tensor.numpy()
    return StoredTensor(dtype, shape, np.ascontiguousarray(array).tobytes())
