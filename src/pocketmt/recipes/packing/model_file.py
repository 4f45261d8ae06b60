"""Packing: a PyTorch model's parameters, a choice of schemes, and a vocabulary become one model file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

import torch
from torch import Tensor

from pocketmt import __version__
from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.architecture import (
    Architecture,
    TransformerArchitecture,
)
from pocketmt.model_file.entropy_coding import CODING
from pocketmt.model_file.manifest import FORMAT_VERSION, check_manifest
from pocketmt.model_file.products import activation_scale_name
from pocketmt.model_file.vectors import stack_name, stacks_from_json, stored_shapes
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.quantization import EntropyConstrained, Logarithmic, Scheme, Uniform
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.quantization.static_activations import CalibratedActivations
from pocketmt.recipes.activations.stored import TrainedActivations, encode_activations, with_stored_norms
from pocketmt.recipes.packing.encoding import check_groups, encode_matrix, stored_tensor
from pocketmt.recipes.packing.entropy_coding import code_tensors
from pocketmt.recipes.packing.sparse import encode_sparse, is_smaller
from pocketmt.recipes.row_groups import QuantizedMatrix, RowGroup
from pocketmt.recipes.trained_model import check_weights
from pocketmt.recipes.vectors import stacked
from pocketmt.text.vocabulary import Vocabulary

FLOAT32: Final = "float32"
# A name in PRESETS, or pattern of matrix names -> name in SCHEMES, FLOAT32 or row groups; see `pack`.
Schemes = str | Mapping[str, str | Sequence[RowGroup]]
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
    schemes: Schemes,
    about: About,
    quantized: Mapping[str, QuantizedMatrix] | None = None,
    *,
    products: LogarithmicActivations | CalibratedActivations | None = None,
    entropy_coding: bool = False,
    activations: TrainedActivations | None = None,
    maximum_size: int | None = None,
) -> int:
    """Write a model file; returns its size in bytes.

    Args:
        path: of the file, replaced when the new one is complete.
        state: the model's state dict: every parameter of the architecture and nothing else.
        architecture: of the model.
        vocabulary: the serialized SentencePiece model, of architecture.vocabulary_size pieces.
        schemes: a name in PRESETS, or pattern of matrix names -> name in SCHEMES, "float32" or row groups; the first
            that fits decides. A stack's name (`stack_name`) -> a row group that names vectors, which are otherwise
            stored in fp32.
        about: the rest of the manifest.
        quantized: matrix -> codes and parameters of each of its row groups, stored as they are: of a retrained model,
            what training used. The other matrices' schemes fit and assign.
        products: how activations that meet quantized matrices are quantized; None: 8 bits, a scale a row.
        activations: which are quantized, as `check_storable` asks, and their ranges; None: none are.
        entropy_coding: make all codes smaller without loss; those of schemes that count on it are so in any case.
        maximum_size: as of `write_model`.

    Raises:
        ConfigurationError: unknown preset or scheme, a pattern that fits no matrix, a matrix that fits no pattern, or
            row groups that do not hold each of its rows once; activations that no model file holds.
        ModelFileError: parameters or vocabulary do not fit the architecture or are not finite, given codes do not fit
            their scheme, or as `write_model` raises.
        DataError: the vocabulary is no SentencePiece model.
    """
    shapes = architecture.parameter_shapes()
    schemes, stacks = _separate_stacks(schemes)
    vectors = [list(groups[0].vectors) for groups in stacks.values()]
    held = stored_shapes(shapes, stacks_from_json(vectors, shapes) if vectors else {})
    chosen = choose_schemes([name for name, shape in shapes.items() if len(shape) == 2], schemes) | stacks
    check_weights(state, shapes)
    _check_vocabulary(vocabulary, architecture)
    for name, groups in chosen.items():
        check_groups(name, held[name][0], groups)
    if activations is not None:
        state = with_stored_norms(activations.settings, state, [name for stack in vectors for name in stack])
    holding = {name: stacked(state, stacks[name]) if name in stacks else state[name] for name in held}
    stored, tensors = _encode(holding, chosen, quantized or {})
    described, ranges = _activations(activations, architecture)
    manifest = _manifest(architecture, vocabulary, about) | stored | _optional(vectors, products) | described
    tensors |= ranges | _activation_scales(products, [name for name in chosen if name not in stacks])
    if coded := [name for name, groups in chosen.items() if entropy_coding or _counts_on_coding(groups)]:
        tensors = _code(tensors, coded, manifest)
        manifest["coding"] = CODING
    return write_model(path, manifest, tensors, vocabulary, maximum_size)


def _code(
    tensors: Mapping[str, StoredTensor], names: Sequence[str], manifest: Mapping[str, object]
) -> dict[str, StoredTensor]:
    """Return the tensors with the codes of these matrices entropy-coded."""
    matrices = check_manifest(dict(manifest)).matrices
    return code_tensors(tensors, {name: matrices[name] for name in names})


def _counts_on_coding(groups: Sequence[RowGroup]) -> bool:
    return any(isinstance(group.scheme, EntropyConstrained) for group in groups)


def _activations(
    activations: TrainedActivations | None, architecture: Architecture
) -> tuple[dict[str, object], dict[str, StoredTensor]]:
    """Return the manifest's member and the tensors of quantized activations, if there are some."""
    if activations is None:
        return {}, {}
    assert isinstance(architecture, TransformerArchitecture)  # as `plan_activations` sees to
    return encode_activations(activations, architecture)


def _separate_stacks(schemes: Schemes) -> tuple[Schemes, dict[str, tuple[RowGroup, ...]]]:
    """Return what is said of matrices, and of stacks; ConfigurationError where a file would name these otherwise."""
    if isinstance(schemes, str):
        return schemes, {}
    stacks = {
        name: tuple(choice)
        for name, choice in schemes.items()
        if not isinstance(choice, str) and any(group.vectors for group in choice)
    }
    for index, name in enumerate(stacks):
        if name != stack_name(index):
            raise ConfigurationError(f"schemes: the stack {name!r} of vectors must be named {stack_name(index)!r}")
    return {name: choice for name, choice in schemes.items() if name not in stacks}, stacks


def choose_schemes(matrices: list[str], schemes: Schemes) -> dict[str, tuple[RowGroup, ...]]:
    """Return each quantized matrix's row groups; raises ConfigurationError as `pack` says."""
    if isinstance(schemes, str):
        if schemes not in PRESETS:
            raise ConfigurationError(f"unknown scheme {schemes!r}: choose one of {', '.join(PRESETS)}")
        schemes = PRESETS[schemes]
    for pattern, choice in schemes.items():
        if isinstance(choice, str) and choice != FLOAT32 and choice not in SCHEMES:
            known = ", ".join((FLOAT32, *SCHEMES))
            raise ConfigurationError(f"schemes: {pattern!r} has the unknown scheme {choice!r}: choose one of {known}")
        if not any(fnmatchcase(name, pattern) for name in matrices):
            raise ConfigurationError(f"schemes: the pattern {pattern!r} fits no matrix, e.g. not {matrices[-1]!r}")
    chosen: dict[str, tuple[RowGroup, ...]] = {}
    for name in matrices:
        fitting = [choice for pattern, choice in schemes.items() if fnmatchcase(name, pattern)]
        if not fitting:
            raise ConfigurationError(f"schemes: no pattern fits the matrix {name!r}: add one, e.g. '*' last")
        choice = fitting[0]
        if isinstance(choice, str):
            if choice != FLOAT32:
                chosen[name] = (RowGroup(SCHEMES[choice]),)
        else:
            chosen[name] = tuple(choice)
    return chosen


def _encode(
    state: Mapping[str, Tensor],
    chosen: Mapping[str, Sequence[RowGroup]],
    quantized: Mapping[str, QuantizedMatrix],
) -> tuple[dict[str, object], dict[str, StoredTensor]]:
    """Return the manifest's schemes and matrices, and the tensors in the order of the state."""
    entries: list[dict[str, object]] = []
    matrices: dict[str, list[list[int]]] = {}
    without_zeros: list[str] = []
    tensors: dict[str, StoredTensor] = {}
    for name, parameter in state.items():
        weight = parameter.detach().to("cpu", torch.float32)
        if name not in chosen:
            if is_smaller(weight):
                without_zeros.append(name)
                tensors |= encode_sparse(name, weight)
            else:
                tensors[name] = stored_tensor(weight, "F32")
            continue
        described, encoded = encode_matrix(name, weight, chosen[name], quantized.get(name))
        tensors |= encoded
        for entry, _ in described:
            if entry not in entries:
                entries.append(entry)
        matrices[name] = [[entries.index(entry), rows] for entry, rows in described]
    members: dict[str, object] = {"schemes": entries, "matrices": matrices}
    return members | ({"sparse": without_zeros} if without_zeros else {}), tensors


def _activation_scales(
    products: LogarithmicActivations | CalibratedActivations | None, matrices: Sequence[str]
) -> dict[str, StoredTensor]:
    if not isinstance(products, CalibratedActivations):
        return {}
    for name in matrices:
        if name not in products.scales:
            raise ConfigurationError(f"products: the activations that meet {name} have no scale: calibrate them")
    return {activation_scale_name(name): stored_tensor(products.scales[name].cpu(), "F32") for name in matrices}


def _optional(
    vectors: list[list[str]], products: LogarithmicActivations | CalibratedActivations | None
) -> dict[str, object]:
    """Return the members of the manifest that are only there where they say something."""
    members: dict[str, object] = {"vectors": vectors} if vectors else {}
    return members if products is None else {**members, "products": products.description()}


def _manifest(architecture: Architecture, vocabulary: bytes, about: About) -> dict[str, object]:
    """Return the members of the manifest that are not about how tensors are stored."""
    return {
        "format_version": FORMAT_VERSION,
        "architecture": architecture.to_json(),
        "vocabulary": {"encoding": "xz", "bytes": len(vocabulary), "normalization": "nfkc"},
        "languages": {"source": about.source_language, "target": about.target_language},
        "recipe": dict(about.recipe),
        "licence": about.licence,
        "producer": f"pocketmt {__version__}",
        "training": dict(about.training),
        "description": about.description,
    }


def _check_vocabulary(vocabulary: bytes, architecture: Architecture) -> None:
    if (pieces := len(Vocabulary(vocabulary))) != architecture.vocabulary_size:
        raise ModelFileError(
            f"the vocabulary has {pieces} pieces, the model {architecture.vocabulary_size}: not its own"
        )
