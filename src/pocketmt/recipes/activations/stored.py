"""Quantized activations on their way into a model file: its entry, its ranges, and gamma on its grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.activations import BUCKETED, OPERATIONS, SOFTMAX, StoredActivations, ranges_name
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.writer import StoredTensor
from pocketmt.quantization.ranges import fake_quantize_range
from pocketmt.recipes.activations.fully_quantized import LAYER_NORM_WEIGHT, FullQuantization
from pocketmt.recipes.packing.encoding import stored_tensor

_GAMMA = "norm.weight"
# Where a network has the range of an operation, from the part that the model file names.
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


@dataclass(frozen=True)
class TrainedActivations:
    """Which activations of a network are quantized, and their ranges: buffers as `Outcome.ranges` has them."""

    settings: FullQuantization
    ranges: Mapping[str, Tensor]


def check_storable(settings: FullQuantization, vectors: Sequence[str] = ()) -> None:
    """Raise ConfigurationError for what a model file cannot hold, as the engine does not run it.

    That is what paper Q tries to show that it is bad or of no use: the naive approach's operations (Table 2), buckets
    beyond section 3.3 and single parts of the network (Table 3). And a softmax without the codes of query, key and
    value that its products need, and gamma where it is among the `vectors` that have a scheme.
    """
    if LAYER_NORM_WEIGHT in settings.operations:
        for name in vectors:
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


def encode_activations(
    activations: TrainedActivations, architecture: TransformerArchitecture
) -> tuple[dict[str, object], dict[str, StoredTensor]]:
    """Encode the activations of a network.

    Args:
        activations: such as `check_storable` takes.
        architecture: of the network.

    Returns:
        The manifest's member, and tensors by name.

    Raises:
        ConfigurationError: ranges that were never estimated.
    """
    settings, ranges = activations.settings, activations.ranges
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
    return {"activations": StoredActivations(settings.bits, operations, bucketed).to_json()}, tensors


def with_stored_norms(
    settings: FullQuantization, weights: Mapping[str, Tensor], vectors: Sequence[str]
) -> dict[str, Tensor]:
    """Return the parameters, gamma of every layer normalization being what its codes stand for, if it is quantized.

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
    """Return the name of the module that has an operation's range at a part of the network."""
    if operation == "query_key_value":
        layer, _, operand = part.rpartition(".")
        return f"{layer}.attention.{operand}"
    return f"{part}{_SUFFIXES[operation]}"
