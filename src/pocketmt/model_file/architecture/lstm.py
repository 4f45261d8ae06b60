"""The architecture of a deep LSTM with attention (Aji and Heafield 2020, section 4.1)."""

from dataclasses import dataclass, field

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture.base import MAXIMUM_DIMENSION, Architecture, AttentionKind, Shapes
from pocketmt.model_file.architecture.fields import allowed, bounds, check_kept


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class LstmArchitecture(Architecture):
    """Description of an LSTM encoder and decoder, whose equations are in `pocketmt.models.lstm`.

    The first encoder layer reads in both directions, with half of recurrent_dimension each; every other layer has all
    of it. attention_dimension is heads times head size. One matrix embeds both sides and is the output projection.
    """

    type: str = field(default="lstm", metadata=allowed("lstm"))
    embeddings: str = field(default="shared", metadata=allowed("shared"))
    output_projection: str = field(default="tied", metadata=allowed("tied"))
    output_bias: bool = field(default=False, metadata=allowed(False))
    scale_embeddings: bool = field(default=True, metadata=allowed(True))
    first_decoder_input: str = field(default="bos", metadata=allowed("bos", "eos", "pad"))
    recurrent_dimension: int = field(metadata=bounds(2, MAXIMUM_DIMENSION))
    attention_heads: int = field(metadata=bounds(1, MAXIMUM_DIMENSION))
    attention_dimension: int = field(metadata=bounds(4, MAXIMUM_DIMENSION))

    def check_sizes(self) -> None:
        """Raise ConfigurationError where recurrent_dimension is odd, or layers are too large."""
        if self.recurrent_dimension % 2:
            raise ConfigurationError(
                f"architecture: recurrent_dimension is {self.recurrent_dimension}, expected an even number (half of "
                "the first encoder layer reads backwards)"
            )
        check_kept("target", 2 * self.decoder_layers * self.recurrent_dimension)

    def heads_of_layers(self, kind: AttentionKind) -> list[int]:
        """Return the heads of the first decoder layer's cross-attention, the network's only attention."""
        if kind != "cross":
            raise ConfigurationError("the model is recurrent, it has no self-attention: look at another kind")
        return [self.attention_heads]

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


class _LstmShapes(Shapes):
    """Shapes of an LSTM's parameters."""

    def layer(self, layer: str, size: int, inputs: int) -> None:
        self.lstm(f"{layer}.lstm", size, inputs)
        self.norm(f"{layer}.lstm_norm", size)

    def lstm(self, name: str, size: int, inputs: int) -> None:
        self.linear(f"{name}.input", 4 * size, inputs, bias=True)
        self.linear(f"{name}.recurrent", 4 * size, size, bias=False)
