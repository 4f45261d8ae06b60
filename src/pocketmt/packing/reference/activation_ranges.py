"""The trained ranges of a model file, and the operations of its reference that quantize within them."""

import torch
from torch import nn

from pocketmt.model_file import ModelFile
from pocketmt.model_file.activations.activation_ranges import OPERATIONS, ranges_name
from pocketmt.models.attention import DotProductAttention
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.transformer import FeedForward
from pocketmt.packing.reference.quantized_operations import ReferenceAttention, ReferenceLayerNorm, ReferenceSoftmax
from pocketmt.quantization.activations.quantization_parameters import QuantizationParameters


class ActivationRanges:
    """The quantization parameters of a file, by operation and part of the network."""

    def __init__(self, file: ModelFile) -> None:
        self._parameters: dict[tuple[str, str], QuantizationParameters] = {}
        stored = file.activation_ranges
        for operation in () if stored is None else stored.operations:
            assert stored is not None
            name = ranges_name(operation)
            values = torch.frombuffer(bytearray(file.data(name)), dtype=torch.float32).view(file.layout(name)[1])
            for part, (minimum, maximum) in zip(OPERATIONS[operation].places(file.architecture), values, strict=True):
                self._parameters[operation, part] = QuantizationParameters(minimum, maximum, stored.bits)

    def at(self, operation: str, part: str) -> QuantizationParameters | None:
        """Return the quantization parameters of an operation; None: the file does not quantize it."""
        return self._parameters.get((operation, part))


def quantize_operations(model: TranslationNetwork, ranges: ActivationRanges) -> None:
    """Replace the quantized operations of a network."""
    model.position = _or_identity(ranges.at("position", "position"))
    model.get_submodule("encoder").input = _or_identity(ranges.at("embedding_sum", "encoder"))
    model.get_submodule("decoder").input = _or_identity(ranges.at("embedding_sum", "decoder"))
    for name, module in list(model.named_modules()):
        parent, _, attribute = name.rpartition(".")
        if isinstance(module, DotProductAttention):
            setattr(model.get_submodule(parent), attribute, _attention(module, ranges, parent))
        elif isinstance(module, FeedForward):
            activated, given = ranges.at("relu_output", name), ranges.at("feed_forward_output", name)
            if activated is not None:
                module.activation = nn.Sequential(module.activation, activated)
            if given is not None:
                module.add_module("outer", nn.Sequential(module.outer, given))
        elif isinstance(module, nn.LayerNorm):
            norm = ReferenceLayerNorm(module, lambda operation, name=name: ranges.at(operation, name))  # type: ignore[misc]
            if norm.quantized:
                setattr(model.get_submodule(parent), attribute, norm)


def input_parameters(model: TranslationNetwork, ranges: ActivationRanges) -> dict[str, QuantizationParameters | None]:
    """Return the quantization parameters of the input of each linear layer and of the output projection."""
    inputs: dict[str, QuantizationParameters | None] = {}
    encoded: QuantizationParameters | None = None
    for stack in ("encoder", "decoder"):
        stream = ranges.at("embedding_sum", stack)
        for layer, module in model.get_submodule(f"{stack}.layers").named_children():
            for sublayer in [name for name, _ in module.named_children() if hasattr(module, f"{name}_norm")]:
                part = f"{stack}.layers.{layer}.{sublayer}"
                normed = ranges.at("layer_norm_output", f"{part}_norm")
                read = normed if model.architecture.pre_norm else stream
                inputs |= {f"{part}.{linear}": read for linear in ("query_key_value", "query", "input_forget", "inner")}
                inputs[f"{part}.key_value"] = encoded
                inputs[f"{part}.output"] = ranges.at("attention_output", part)
                inputs[f"{part}.outer"] = ranges.at("relu_output", part)
                stream = normed
        encoded = ranges.at("layer_norm_output", f"{stack}.norm") if model.architecture.pre_norm else stream
    inputs[model.architecture.output_matrix.removesuffix(".weight")] = encoded
    return inputs


def _attention(plain: DotProductAttention, ranges: ActivationRanges, part: str) -> nn.Module:
    output = ranges.at("attention_output", part)
    query, key, value = (ranges.at("query_key_value", f"{part}.{name}") for name in ("query", "key", "value"))
    if query is None or key is None or value is None:
        plain.output = _or_identity(output)
        return plain
    softmax = ReferenceSoftmax(ranges.at("softmax_numerator", part), ranges.at("softmax_output", part))
    return ReferenceAttention(query, key, value, softmax, output)


def _or_identity(parameters: QuantizationParameters | None) -> nn.Module:
    return nn.Identity() if parameters is None else parameters
