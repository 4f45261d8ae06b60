"""The operations of a fully quantized Transformer, and which of them a recipe quantizes."""

from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.activations.activation_ranges import BUCKETED, OPERATIONS

# The operations of Prato et al. 2020, section 3.2.
LAYER_NORM_WEIGHT: Final = "layer_norm_weight"
STRATEGY: Final = (*OPERATIONS, LAYER_NORM_WEIGHT)
# Operations that have buckets in Table 3: a softmax has one for each head, the output of a ReLU one for each element.
BUCKETABLE: Final = (*BUCKETED, "softmax_numerator", "softmax_denominator", "softmax_output", "relu_output")
# The "default approach" of Table 2 quantizes every operation.
NAIVE: Final = (
    *STRATEGY,
    "attention_scores",
    "softmax_denominator",
    "multi_head_output",
    "residual_sum",
    "layer_norm_mean",
    "layer_norm_variance",
)


@dataclass(frozen=True)
class FullQuantization:
    """The quantized operations of a network, with the defaults of Prato et al. 2020."""

    bits: int = 8  # of a code; 4, 6 or 8 in the paper
    operations: tuple[str, ...] = STRATEGY
    bucketed: tuple[str, ...] = BUCKETED  # operations with a range for each element of the last dimension (section 3.3)
    clamped_gradient: tuple[str, ...] = ("layer_norm_denominator",)  # operations with a gradient for clamped values
    # Patterns of the names of modules; operations elsewhere are not quantized. Table 3 separates parts of the network.
    modules: tuple[str, ...] = ("*",)

    def __post_init__(self) -> None:
        if not 2 <= self.bits <= 8:
            raise ConfigurationError(f"activations of {self.bits} bits: choose 2 to 8 (the paper: 4, 6 or 8)")
        for name in (*self.operations, *self.clamped_gradient):
            if name not in NAIVE:
                raise ConfigurationError(f"unknown operation {name!r}: choose among {', '.join(NAIVE)}")
        for name in self.bucketed:
            if name not in BUCKETABLE:
                raise ConfigurationError(f"{name!r} cannot have buckets: choose among {', '.join(BUCKETABLE)}")
