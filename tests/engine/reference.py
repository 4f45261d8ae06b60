"""Random networks: as a model file for the engine, and in PyTorch running the very same codes."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from pocketmt.model_file import Architecture
from pocketmt.model_file.bit_packing import pack_nibbles
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.models.transformer import Transformer
from pocketmt.quantization import Logarithmic, Scheme, Uniform
from pocketmt.quantization.activations import integer_product
from pocketmt.text.vocabulary import Vocabulary

# Networks this small gain nothing by threads, and on a busy machine lose much.
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


def architecture(**changes: object) -> Architecture:
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
    return Architecture(**{**sizes, **changes})  # type: ignore[arg-type]


def random_transformer(shape: Architecture, seed: int = 0) -> Transformer:
    """A network whose next-token distributions are peaked and whose biases and norms are not the neutral ones."""
    torch.manual_seed(seed)
    model = Transformer(shape).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            elif name != "embedding.weight":
                parameter.mul_(1.5)
        model.embedding.weight.mul_(3.0)
    return model


class QuantizedLinear(nn.Module):
    """A linear layer on integer codes and run-time quantized activations; groups are (levels, scale, weight)."""

    def __init__(self, groups: list[tuple[Tensor, Tensor]], bias: Tensor | None) -> None:
        super().__init__()
        self.groups = groups
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        product = torch.cat([integer_product(x, levels, scale) for levels, scale in self.groups], dim=-1)
        return product if self.bias is None else product + self.bias


class QuantizedTransformer(Transformer):
    """A Transformer whose output layer is quantized too."""

    output: nn.Module

    def logits(self, decoded: Tensor) -> Tensor:
        logits: Tensor = self.output(decoded)
        return logits


def write(path: Path, model: Transformer, vocabulary: Vocabulary, grouping: Grouping = plain) -> Transformer:
    """Write `model` as a model file; returns the network that PyTorch must run to agree with the engine."""
    stored: dict[str, StoredTensor] = {}
    schemes: list[dict[str, object]] = []
    matrices: dict[str, list[list[int]]] = {}
    reference = QuantizedTransformer(model.architecture).eval()
    reference.load_state_dict(model.state_dict())
    reference.output = nn.Linear(1, 1)
    for name, weight in model.state_dict().items():
        groups = grouping(name, len(weight)) if weight.dim() == 2 else []
        if not groups:
            stored[name] = StoredTensor("F32", tuple(weight.shape), weight.numpy().astype("<f4").tobytes())
            if name == "embedding.weight":
                reference.output = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
                reference.output.weight = nn.Parameter(weight)
            continue
        matrices[name] = []
        executed = []
        for index, (scheme, rows) in enumerate(groups):
            first = sum(count for _, count in matrices[name])
            part = weight[first : first + rows]
            parameters = scheme.fit(part)
            codes = scheme.assign(part, parameters)
            stored.update(_stored(f"{name}.{index}", scheme, codes, parameters))
            if scheme.description() not in schemes:
                schemes.append(scheme.description())
            matrices[name].append([schemes.index(scheme.description()), rows])
            ones = {"scale": torch.ones(1 if scheme.granularity == "matrix" else rows)}
            executed.append((scheme.decode(codes, ones), parameters["scale"].expand(rows)))
        _replace(reference, name, executed)
    write_model(path, _manifest(model.architecture, vocabulary, schemes, matrices), stored, vocabulary.model)
    return reference


def _stored(prefix: str, scheme: Scheme, codes: Tensor, parameters: Mapping[str, Tensor]) -> dict[str, StoredTensor]:
    scale = parameters["scale"]
    if scheme.granularity == "row":
        halves = (scale.numpy().view(np.uint32) >> 16).astype("<u2")
        stored_scale = StoredTensor("BF16", tuple(scale.shape), halves.tobytes())
    else:
        stored_scale = StoredTensor("F32", (1,), scale.numpy().tobytes())
    if scheme.bits == 8:
        stored_codes = StoredTensor("I8", tuple(codes.shape), codes.numpy().tobytes())
    else:
        packed = pack_nibbles(codes.numpy())
        stored_codes = StoredTensor("U8", packed.shape, packed.tobytes())
    return {f"{prefix}.codes": stored_codes, f"{prefix}.scale": stored_scale}


def _replace(reference: QuantizedTransformer, name: str, groups: list[tuple[Tensor, Tensor]]) -> None:
    """Let the matrix `name` run on its codes."""
    weight = torch.cat([levels * scale[:, None] for levels, scale in groups])
    if name == "embedding.weight":
        reference.embedding.weight = nn.Parameter(weight)
        reference.output = QuantizedLinear(groups, None)
        return
    parent, _, child = name.removesuffix(".weight").rpartition(".")
    linear = reference.get_submodule(f"{parent}.{child}")
    bias = linear.bias
    assert bias is None or isinstance(bias, Tensor)
    setattr(reference.get_submodule(parent), child, QuantizedLinear(groups, bias))


def _manifest(
    shape: Architecture,
    vocabulary: Vocabulary,
    schemes: list[dict[str, object]],
    matrices: Mapping[str, list[list[int]]],
) -> dict[str, object]:
    return {
        "format_version": 1,
        "architecture": asdict(shape),
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


def reference_logits(model: Transformer, source: list[int], target: list[int]) -> np.ndarray:
    """Teacher-forced logits [len(target) + 1, V]."""
    with torch.inference_mode():
        decoded = model(torch.tensor([[*source, 2]]), torch.tensor([[1, *target]]))
        logits: np.ndarray = model.logits(decoded)[0].numpy()
    return logits
