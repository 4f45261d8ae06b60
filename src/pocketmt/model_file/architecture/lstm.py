"""The architecture of a deep LSTM with attention [L7]."""

from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import (
    MAXIMUM_DIMENSION,
    MAXIMUM_LAYERS,
    MAXIMUM_VOCABULARY,
    SPECIAL_PIECES,
    Architecture,
    Shapes,
    check_heads,
    check_size,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LstmArchitecture(Architecture):
    """Sizes of an LSTM encoder and decoder; what they compute stands in `pocketmt.models.lstm`.

    The first encoder layer reads in both directions, with half of recurrent_dimension each; every other layer has all
    of it. attention_dimension is heads times head size.

    Raises ConfigurationError, naming the field, where a size is out of range or sizes do not fit together.
    """

    type: str = "lstm"
    encoder_layers: int
    decoder_layers: int
    recurrent_dimension: int
    attention_heads: int
    attention_dimension: int

    def __post_init__(self) -> None:
        if self.type != "lstm":
            raise ConfigurationError(f"architecture: type is {self.type!r:.80}, expected 'lstm'")
        for name, (lowest, highest) in _BOUNDS.items():
            check_size(name, getattr(self, name), lowest, highest)
        if self.recurrent_dimension % 2:
            raise ConfigurationError(
                f"architecture: recurrent_dimension is {self.recurrent_dimension}, expected an even number (half of "
                "the first encoder layer reads backwards)"
            )
        check_heads(self.attention_dimension, self.attention_heads)

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name and shape of every parameter, in the order of the network."""
        shapes = _LstmShapes()
        recurrent, half = self.recurrent_dimension, self.recurrent_dimension // 2
        shapes.found["embedding.weight"] = (self.vocabulary_size, self.model_dimension)
        for direction in ("left_to_right", "right_to_left"):
            shapes.lstm(f"encoder.layers.0.lstm.{direction}", half, self.model_dimension)
        shapes.norm("encoder.layers.0.lstm_norm", recurrent)
        for index in range(1, self.encoder_layers):
            shapes.layer(f"encoder.layers.{index}", recurrent, recurrent)
        shapes.layer("decoder.layers.0", recurrent, self.model_dimension)
        shapes.cross_attention("decoder.layers.0.cross_attention", self.attention_dimension, recurrent, bias=False)
        for index in range(1, self.decoder_layers):
            shapes.layer(f"decoder.layers.{index}", recurrent, recurrent)
        shapes.linear("decoder.readout", self.model_dimension, recurrent, bias=True)
        return shapes.found


_BOUNDS: Final = {
    "encoder_layers": (1, MAXIMUM_LAYERS),
    "decoder_layers": (1, MAXIMUM_LAYERS),
    "model_dimension": (1, MAXIMUM_DIMENSION),
    "recurrent_dimension": (2, MAXIMUM_DIMENSION),
    "attention_heads": (1, MAXIMUM_DIMENSION),
    "attention_dimension": (4, MAXIMUM_DIMENSION),
    "vocabulary_size": (SPECIAL_PIECES + 1, MAXIMUM_VOCABULARY),
}


class _LstmShapes(Shapes):
    """Shapes of an LSTM's parameters."""

    def layer(self, layer: str, size: int, inputs: int) -> None:
        self.lstm(f"{layer}.lstm", size, inputs)
        self.norm(f"{layer}.lstm_norm", size)

    def lstm(self, name: str, size: int, inputs: int) -> None:
        self.linear(f"{name}.input", 4 * size, inputs, bias=True)
        self.linear(f"{name}.recurrent", 4 * size, size, bias=False)
