"""The result of a stage: weights, codes and parameters of its best validation, kept in a file."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pocketmt.quantization.row_groups import QuantizedGroup, QuantizedMatrix
from pocketmt.training.bleu_tokenization import WORDS, Tokenization
from pocketmt.training.checkpoints import Weights, load_checkpoint, save_checkpoint


@dataclass(frozen=True)
class StageResult:
    """A network, in full precision and quantized.

    Attributes:
        weights: every parameter in full precision: what a later stage starts from.
        quantized: what is stored of the matrices that have a scheme.
        scores: of the validation: "update", "loss", "bleu" or, where translations by the uncompressed model stand for
            references, "agreement_bleu"; empty where there was none.
        ranges: buffers of a network whose activations are quantized.
        tokenization: of BLEU; results of earlier versions do not have it.
    """

    weights: Weights
    quantized: dict[str, QuantizedMatrix] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    ranges: Weights = field(default_factory=dict)
    tokenization: Tokenization = WORDS

    @property
    def state(self) -> Weights:
        """Every parameter in full precision, and the ranges."""
        return {**self.weights, **self.ranges}

    def save(self, file: Path) -> None:
        """Save it atomically."""
        quantized = {
            name: [(group.codes, group.parameters) for group in matrix] for name, matrix in self.quantized.items()
        }
        parts = {"weights": self.weights, "quantized": quantized, "scores": self.scores, "ranges": self.ranges}
        save_checkpoint(file, parts | {"tokenization": self.tokenization})


def load_result(file: Path) -> StageResult:
    """Load what `StageResult.save` saved."""
    state: dict[str, Any] = load_checkpoint(file)
    quantized = {name: [QuantizedGroup(*group) for group in matrix] for name, matrix in state["quantized"].items()}
    return StageResult(
        state["weights"], quantized, state["scores"], state.get("ranges", {}), state.get("tokenization", WORDS)
    )
