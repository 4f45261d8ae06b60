"""Trained ranges of activations, encoded for a model file."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.activations.activation_ranges import (
    BUCKETED,
    OPERATIONS,
    SOFTMAX,
    StoredActivationRanges,
    ranges_name,
)
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.writer import StoredTensor
from pocketmt.packing.contents import TrainedRanges
from pocketmt.packing.encoding import stored_tensor
from pocketmt.quantization.activations.running_range import fake_quantize_range
from pocketmt.recipes.activations import LAYER_NORM_WEIGHT, FullQuantization

_GAMMA = "norm.weight"
# Suffixes of modules with the range of an operation, after the name of the part in the model file.
_SUFFIXES = {
    "position": "",
    "embedding_sum": ".input",
    "softmax_numerator": ".attention.softmax.numerator",
    "softmax_output": ".attention.softmax.output",
    "attention_output": ".attention.output",
    "relu_output": ".activation.1",
    "feed_forward_output": ".outer.output_range",
    "layer_norm_numerator": ".numerator",
    "layer_norm_denominator": ".denominator",
    "layer_norm_quotient": ".quotient",
    "layer_norm_output": ".output",
}


def check_storable(settings: FullQuantization, vectors: Sequence[str] = ()) -> None:
    """Raise ConfigurationError for settings that neither model files nor the engine support.

    These are the operations of the naive approach (Prato et al. 2020, Table 2), buckets beyond section 3.3, and
    single parts of the network (Table 3), which are not part of the paper's method; a quantized softmax without the
    codes of query, key and value; and gamma, if it is among the `vectors` that have a scheme.
    """
    for name in vectors if LAYER_NORM_WEIGHT in settings.operations else ():
        if name.endswith(_GAMMA):
            raise ConfigurationError(
                f"activations: {name} is quantized by a scheme already: leave {LAYER_NORM_WEIGHT} out"
            )
    if settings.modules != ("*",):
        raise ConfigurationError(
            "activations: no model file holds operations that are quantized in some modules alone: leave modules out"
        )
    for name in settings.bucketed:
        if name not in BUCKETED:
            raise ConfigurationError(f"activations: no model file holds buckets of {name!r}: leave it out of bucketed")
    for name in settings.operations:
        if name not in OPERATIONS and name != LAYER_NORM_WEIGHT:
            raise ConfigurationError(
                f"activations: no model file holds the operation {name!r}, none of the paper's strategy: leave it out"
            )
    if set(SOFTMAX) & set(settings.operations) and "query_key_value" not in settings.operations:
        raise ConfigurationError(
            "activations: no model file holds a quantized softmax without query_key_value: add that operation"
        )


def encode_ranges(
    trained: TrainedRanges, architecture: Architecture
) -> tuple[StoredActivationRanges, dict[str, StoredTensor]]:
    """Encode the ranges of a network, with settings that `check_storable` accepts.

    Returns the manifest's entry, and tensors by name. Raises ConfigurationError for a range that was never estimated.
    """
    settings, ranges = trained.settings, trained.ranges
    operations = tuple(name for name in OPERATIONS if name in settings.operations)
    bucketed = tuple(name for name in operations if name in settings.bucketed)
    tensors = {}
    for operation in operations:
        places = [range_module(operation, part) for part in OPERATIONS[operation].places(architecture)]
        for place in places:
            if not ranges[f"{place}.estimates"]:
                raise ConfigurationError(f"activations: the range {place} was never estimated: train on some text")
        pairs = [torch.stack([ranges[f"{place}.minimum"], ranges[f"{place}.maximum"]]) for place in places]
        tensors[ranges_name(operation)] = stored_tensor(torch.stack(pairs).float(), "F32")
    return StoredActivationRanges(settings.bits, operations, bucketed), tensors


def with_stored_norms(
    settings: FullQuantization, weights: Mapping[str, Tensor], vectors: Sequence[str]
) -> dict[str, Tensor]:
    """Return the parameters, with gamma of every layer normalization after quantization if the settings say so.

    Raises ConfigurationError as `check_storable` does.
    """
    check_storable(settings, vectors)
    decoded = dict(weights)
    if LAYER_NORM_WEIGHT in settings.operations:
        for name, weight in weights.items():
            if name.endswith(_GAMMA):
                decoded[name] = fake_quantize_range(weight, weight.min(), weight.max(), settings.bits)
    return decoded


def range_module(operation: str, part: str) -> str:
    """Return the name of the module with the range of an operation in a part of the network."""
    if operation == "query_key_value":
        layer, _, operand = part.rpartition(".")
        return f"{layer}.attention.{operand}"
    return f"{part}{_SUFFIXES[operation]}"
