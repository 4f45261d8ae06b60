"""What a stage of a recipe leaves: weights, codes and parameters of its best validation, kept in a file."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from pocketmt.recipes.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, decode
from pocketmt.recipes.vectors import by_parameter
from pocketmt.training.checkpoints import Weights, load_checkpoint, save_checkpoint


@dataclass(frozen=True)
class Outcome:
    """A network, in full precision and quantized."""

    weights: Weights  # full precision, of every parameter: what a later stage starts from
    quantized: dict[str, QuantizedMatrix]  # what is stored of the matrices that have a scheme
    scores: dict[str, float]  # of the validation: "update", "loss", "bleu"; empty where there was none
    ranges: Weights = field(default_factory=dict)  # buffers of a network whose activations are quantized

    def save(self, file: Path) -> None:
        """Save it whole or not at all."""
        quantized = {
            name: [(group.codes, group.parameters) for group in matrix] for name, matrix in self.quantized.items()
        }
        parts = {"weights": self.weights, "quantized": quantized, "scores": self.scores, "ranges": self.ranges}
        save_checkpoint(file, parts)


def load_outcome(file: Path) -> Outcome:
    """Load what `Outcome.save` saved."""
    state: dict[str, Any] = load_checkpoint(file)
    quantized = {name: [QuantizedGroup(*group) for group in matrix] for name, matrix in state["quantized"].items()}
    return Outcome(state["weights"], quantized, state["scores"], state.get("ranges", {}))


def decoded_weights(
    weights: Weights, quantized: dict[str, QuantizedMatrix], groups: dict[str, tuple[RowGroup, ...]]
) -> dict[str, Tensor]:
    """Return the weights with every quantized matrix and vector exactly on its grid."""
    decoded = dict(weights)
    for name, matrix in quantized.items():
        for parameter, weight in by_parameter(name, groups[name], decode(groups[name], matrix)).items():
            decoded[parameter] = weight.to(weights[parameter].device)
    return decoded
