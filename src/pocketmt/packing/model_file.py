"""Packing: a model's parameters, their schemes and a vocabulary become one model file."""

import os
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.activations.activation_quantization import activation_scale_name
from pocketmt.model_file.matrices.entropy_coding import CODING
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.packing.activation_ranges import encode_ranges, with_stored_norms
from pocketmt.packing.contents import ModelContents, PackingOptions
from pocketmt.packing.encoding import EncodedParameter, encode_float32, encode_matrix, stored_tensor
from pocketmt.packing.scheme_choice import RowGroups, choose_row_groups
from pocketmt.quantization.activations.base import ActivationQuantization
from pocketmt.quantization.row_groups import grouped_rows
from pocketmt.text.stored_vocabulary import stored_vocabularies
from pocketmt.training.trained_model import check_weights

_Members = dict[str, object]
_Tensors = dict[str, StoredTensor]


def pack(path: str | os.PathLike[str], contents: ModelContents, options: PackingOptions | None = None) -> int:
    """Write a model file; returns its size in bytes.

    Args:
        path: of the file; an older one is replaced when the new one is complete.
        contents: of the file.
        options: of the file; None: the defaults.

    Raises:
        ConfigurationError: as `choose_row_groups` raises, or activations that a model file cannot hold.
        ModelFileError: parameters or vocabulary do not fit the architecture or are not finite, given codes do not fit
            their scheme, or as `write_model` raises.
        DataError: the vocabulary is not a SentencePiece model.
    """
    options = options or PackingOptions()
    shapes, chosen = choose_row_groups(contents.architecture, contents.schemes)
    check_weights(contents.weights, contents.architecture.parameter_shapes())
    vocabularies = stored_vocabularies(contents.vocabulary)
    load_checked(vocabularies, contents.architecture)
    weights = _stored_weights(contents, chosen, list(shapes))
    encoded = {name: _encode(name, weight, contents, chosen, options) for name, weight in weights.items()}
    members, tensors = _activations(contents, chosen)
    member, tensor = contents.optional_parts()
    described = contents.metadata.manifest_members(contents.architecture, vocabularies)
    manifest = described | parameter_members(encoded, chosen) | members | member
    if any(parameter.entropy_coded for parameter in encoded.values()):
        manifest["coding"] = CODING
    stored = {name: tensor for parameter in encoded.values() for name, tensor in parameter.tensors.items()}
    return write_model(path, manifest, {**stored, **tensors, **tensor}, contents.vocabulary, options.maximum_size)


def _stored_weights(contents: ModelContents, chosen: RowGroups, names: Sequence[str]) -> dict[str, Tensor]:
    """Return the parameters by their names in the file: vector groups as matrices, and norms after quantization."""
    weights: Mapping[str, Tensor] = contents.weights
    if contents.activation_ranges is not None:
        vectors = [vector for groups in chosen.values() for vector in groups[0].vectors]
        weights = with_stored_norms(contents.activation_ranges.settings, weights, vectors)
    return {name: weights[name] if name in weights else grouped_rows(weights, chosen[name]) for name in names}


def _encode(
    name: str, parameter: Tensor, contents: ModelContents, chosen: RowGroups, options: PackingOptions
) -> EncodedParameter:
    weight = parameter.detach().to("cpu", torch.float32)
    if name not in chosen:
        return encode_float32(name, weight)
    return encode_matrix(name, weight, chosen[name], contents.quantized.get(name), options.entropy_coding)


def parameter_members(encoded: Mapping[str, EncodedParameter], chosen: RowGroups) -> _Members:
    """Return the members of the manifest for schemes, matrices, sparse matrices and grouped vectors."""
    entries: list[dict[str, object]] = []
    matrices: dict[str, list[list[int]]] = {}
    for name, parameter in encoded.items():
        for group in parameter.groups:
            entry = group.form.to_json()
            if entry not in entries:
                entries.append(entry)
            matrices.setdefault(name, []).append([entries.index(entry), group.rows])
    members: _Members = {"schemes": entries, "matrices": matrices}
    if sparse := [name for name, parameter in encoded.items() if parameter.sparse]:
        members["sparse"] = sparse
    if vectors := [list(groups[0].vectors) for groups in chosen.values() if groups[0].vectors]:
        members["vectors"] = vectors
    return members


def _activations(contents: ModelContents, chosen: RowGroups) -> tuple[_Members, _Tensors]:
    """Return the members of the manifest for quantized activations, and their ranges and scales."""
    members: _Members = {}
    tensors: _Tensors = {}
    if contents.activation_quantization is not None:
        members["products"] = contents.activation_quantization.stored_form()
        lookups = contents.architecture.lookup_matrices
        matrices = [name for name, groups in chosen.items() if not groups[0].vectors and name not in lookups]
        tensors = _activation_scales(contents.activation_quantization, matrices)
    if contents.activation_ranges is None:
        return members, tensors
    stored, ranges = encode_ranges(contents.activation_ranges, contents.architecture)
    return members | {"activations": stored.to_json()}, ranges | tensors


def _activation_scales(quantization: ActivationQuantization, matrices: Sequence[str]) -> _Tensors:
    scales = quantization.calibrated_scales
    if scales is None:
        return {}
    for name in matrices:
        if name not in scales:
            raise ConfigurationError(f"products: the inputs of {name} have no scale: calibrate them")
    return {activation_scale_name(name): stored_tensor(scales[name].cpu(), "F32") for name in matrices}
