"""Random networks as model files, whose matrices are in any mixture of schemes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pocketmt.engine import _native
from pocketmt.model_file import Architecture, TransformerArchitecture, open_model
from pocketmt.model_file.matrices.bit_packing import pack_codes
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.models.inputs import decoder_input, encoder_input, pad
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Logarithmic, Scheme, Uniform
from pocketmt.text.vocabulary import Vocabulary

# Threads do not make networks this small faster, and slow them down on a busy machine.
torch.set_num_threads(1)

# Row groups of a matrix [rows, columns]: (scheme, rows); an empty list leaves it in fp32.
Grouping = Callable[[str, int], list[tuple[Scheme, int]]]


def plain(name: str, rows: int) -> list[tuple[Scheme, int]]:
    return []


def uniform(name: str, rows: int) -> list[tuple[Scheme, int]]:
    return [(Uniform(), rows)]


def logarithmic(name: str, rows: int) -> list[tuple[Scheme, int]]:
    return [(Logarithmic("row"), rows)]


def mixed(name: str, rows: int) -> list[tuple[Scheme, int]]:
    """Three schemes in one embedding, one scale for a whole matrix, some matrices in fp32."""
    if name == "embedding.weight":
        return [(Uniform(), 7), (Logarithmic("row"), rows - 20), (Logarithmic("matrix"), 13)]
    if "feed_forward.inner" in name:
        return []
    return [(Logarithmic("matrix"), rows)] if "output" in name else [(Uniform(), rows)]


GROUPINGS: dict[str, Grouping] = {"uniform": uniform, "logarithmic": logarithmic, "mixed": mixed}


def architecture(**changes: object) -> TransformerArchitecture:
    sizes: dict[str, object] = {
        "encoder_layers": 2,
        "decoder_layers": 2,
        "model_dimension": 32,
        "feed_forward_dimension": 48,
        "attention_heads": 4,
        "attention_dimension": 32,
        "norm": "post",
        "attention_bias": False,
        "vocabulary_size": 120,
    }
    return TransformerArchitecture(**{**sizes, **changes})  # type: ignore[arg-type]


def random_network(shape: Architecture, seed: int = 0) -> TranslationNetwork:
    """A network whose next-token distributions are peaked and whose biases and norms are not neutral."""
    torch.manual_seed(seed)
    model = make_network(shape).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            elif name not in ("embedding.weight", "source_embedding.weight", "output.weight"):
                parameter.mul_(1.5)
        model.output_weight.mul_(3.0)
    return model


def write(
    path: Path, model: TranslationNetwork, vocabulary: Vocabulary, grouping: Grouping = plain, **members: object
) -> TranslationNetwork:
    """Write `model` as a model file, with further members of its manifest.

    Returns the network that PyTorch must run to agree with the engine.
    """
    stored: dict[str, StoredTensor] = {}
    schemes: list[dict[str, object]] = []
    matrices: dict[str, list[list[int]]] = {}
    for name, weight in model.state_dict().items():
        groups = grouping(name, len(weight)) if weight.dim() == 2 else []
        if not groups:
            stored[name] = StoredTensor("F32", tuple(weight.shape), weight.numpy().astype("<f4").tobytes())
            continue
        matrices[name] = []
        for index, (scheme, rows) in enumerate(groups):
            first = sum(count for _, count in matrices[name])
            stored.update(_stored(f"{name}.{index}", scheme, weight[first : first + rows]))
            if scheme.stored_form() not in schemes:
                schemes.append(scheme.stored_form())
            matrices[name].append([schemes.index(scheme.stored_form()), rows])
    write_model(path, manifest(model.architecture, vocabulary, schemes, matrices) | members, stored, vocabulary.model)
    return load_reference(path)


def _stored(prefix: str, scheme: Scheme, weight: Tensor) -> dict[str, StoredTensor]:
    parameters = scheme.fit(weight)
    codes, scale = scheme.assign(weight, parameters), parameters["scale"]
    if scheme.granularity == "row":
        halves = (scale.numpy().view(np.uint32) >> 16).astype("<u2")
        stored_scale = StoredTensor("BF16", tuple(scale.shape), halves.tobytes())
    else:
        stored_scale = StoredTensor("F32", (1,), scale.numpy().tobytes())
    if scheme.bits == 8:
        stored_codes = StoredTensor("I8", tuple(codes.shape), codes.numpy().tobytes())
    else:
        packed = pack_codes(codes.numpy(), scheme.bits)
        stored_codes = StoredTensor("U8", packed.shape, packed.tobytes())
    return {f"{prefix}.codes": stored_codes, f"{prefix}.scale": stored_scale}


def manifest(
    shape: Architecture,
    vocabulary: Vocabulary,
    schemes: list[dict[str, object]],
    matrices: Mapping[str, list[list[int]]],
) -> dict[str, object]:
    return {
        "format_version": 1,
        "architecture": shape.to_json(),
        "languages": {"source": "en", "target": "de"},
        "vocabulary": {"encoding": "xz", "bytes": len(vocabulary.model), "normalization": "nfkc"},
        "schemes": schemes,
        "matrices": matrices,
        "recipe": {},
        "licence": "none",
        "producer": "pocketmt test",
        "training": {},
        "description": "random weights",
    }


def reference_logits(model: TranslationNetwork, source: list[int], target: list[int]) -> np.ndarray:
    """Teacher-forced logits [len(target) + 1, V]."""
    with torch.inference_mode():
        shape = model.architecture
        decoded = model(pad([encoder_input(shape, source)]), pad([decoder_input(shape, target)]))
        logits: np.ndarray = model.logits(decoded)[0].numpy()
    return logits


def native_logits(model: _native.Model, source: list[int], target: list[int]) -> np.ndarray:
    """Teacher-forced logits [len(target) + 1, V] of the engine."""
    return np.frombuffer(model.logits(source, target), dtype=np.float32).reshape(len(target) + 1, -1)


def native_arguments(path: Path) -> dict[str, Any]:
    """The arguments that describe a model file to `_native.Model`, in lists that tests change."""
    with open_model(path) as file:
        return {
            "buffer": bytes(file.buffer),
            "architecture": file.architecture.fields(),
            "tensors": {
                name: [each.dtype, list(each.shape), each.offset, each.size] for name, each in file.tensors.items()
            },
            "matrices": {
                name: [list(group.for_engine()) for group in groups] for name, groups in file.matrices.items()
            },
            "vector_groups": [(name, list(vectors)) for name, vectors in file.vector_groups.items()],
        }
