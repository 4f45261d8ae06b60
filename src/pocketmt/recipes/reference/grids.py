"""The grids of a model file's activations, put where they belong in its reference."""

import torch
from torch import nn

from pocketmt.model_file import ModelFile
from pocketmt.model_file.activations import OPERATIONS, ranges_name
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.attention import DotProductAttention
from pocketmt.models.transformer import FeedForward, Transformer
from pocketmt.quantization.grid import Grid
from pocketmt.recipes.reference.activations import GridAttention, GridLayerNorm, GridSoftmax


class Grids:
    """The grids of a file, each found by its operation and the part of the network that it is of."""

    def __init__(self, file: ModelFile) -> None:
        self._grids: dict[tuple[str, str], Grid] = {}
        activations = file.activations
        for operation in () if activations is None else activations.operations:
            assert activations is not None
            assert isinstance(file.architecture, TransformerArchitecture)  # as the reader sees to
            name = ranges_name(operation)
            values = torch.frombuffer(bytearray(file.data(name)), dtype=torch.float32).view(file.form(name)[1])
            for part, (minimum, maximum) in zip(OPERATIONS[operation].places(file.architecture), values, strict=True):
                self._grids[operation, part] = Grid(minimum, maximum, activations.bits)

    def at(self, operation: str, part: str) -> Grid | None:
        """Return the grid of an operation; None where the file does not quantize it."""
        return self._grids.get((operation, part))


def put_grids(model: Transformer, grids: Grids) -> None:
    """Replace the parts of a network that compute on grids."""
    model.position = _or_identity(grids.at("position", "position"))
    model.encoder.input = _or_identity(grids.at("embedding_sum", "encoder"))
    model.decoder.input = _or_identity(grids.at("embedding_sum", "decoder"))
    for name, module in list(model.named_modules()):
        parent, _, attribute = name.rpartition(".")
        if isinstance(module, DotProductAttention):
            setattr(model.get_submodule(parent), attribute, _attention(module, grids, parent))
        elif isinstance(module, FeedForward):
            activated, given = grids.at("relu_output", name), grids.at("feed_forward_output", name)
            if activated is not None:
                module.activation = nn.Sequential(nn.ReLU(), activated)
            if given is not None:
                module.add_module("outer", nn.Sequential(module.outer, given))
        elif isinstance(module, nn.LayerNorm):
            norm = GridLayerNorm(module, lambda operation, name=name: grids.at(operation, name))  # type: ignore[misc]
            if norm.quantized:
                setattr(model.get_submodule(parent), attribute, norm)


def input_grids(model: Transformer, grids: Grids) -> dict[str, Grid | None]:
    """Return the grid on which each linear layer's input lies, by its name; the output projection is "embedding"."""
    inputs: dict[str, Grid | None] = {}
    encoded: Grid | None = None
    for stack in ("encoder", "decoder"):
        stream = grids.at("embedding_sum", stack)
        for layer, module in model.get_submodule(f"{stack}.layers").named_children():
            for sublayer in [name for name, _ in module.named_children() if hasattr(module, f"{name}_norm")]:
                part = f"{stack}.layers.{layer}.{sublayer}"
                normed = grids.at("layer_norm_output", f"{part}_norm")
                read = normed if model.architecture.norm == "pre" else stream
                inputs |= {f"{part}.{linear}": read for linear in ("query_key_value", "query", "input_forget", "inner")}
                inputs[f"{part}.key_value"] = encoded
                inputs[f"{part}.output"] = grids.at("attention_output", part)
                inputs[f"{part}.outer"] = grids.at("relu_output", part)
                stream = normed
        encoded = grids.at("layer_norm_output", f"{stack}.norm") if model.architecture.norm == "pre" else stream
    inputs["embedding"] = encoded
    return inputs


def _attention(plain: DotProductAttention, grids: Grids, part: str) -> nn.Module:
    output = grids.at("attention_output", part)
    query, key, value = (grids.at("query_key_value", f"{part}.{name}") for name in ("query", "key", "value"))
    if query is None or key is None or value is None:
        plain.output = _or_identity(output)
        return plain
    softmax = GridSoftmax(grids.at("softmax_numerator", part), grids.at("softmax_output", part))
    return GridAttention(query, key, value, softmax, output)


def _or_identity(grid: Grid | None) -> nn.Module:
    return nn.Identity() if grid is None else grid
