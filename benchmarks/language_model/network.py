"""A causal language model: a Transformer encoder in which each position attends to itself and the positions before."""

from torch import Tensor

from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.dropout import Dropouts
from pocketmt.models.transformer import Encoder, PositionedNetwork, causal_mask


def paper_architecture(vocabulary_size: int) -> TransformerArchitecture:
    """Return the sizes of the language model of Prato et al. 2020, section 5.4: 2 layers, d = 200, two heads of 64.

    The feed-forward dimension, 200, is that of the PyTorch example whose set-up the paper uses.
    """
    return TransformerArchitecture(
        encoder_layers=2,
        decoder_layers=1,  # not used: a language model has no decoder, but an architecture needs one layer
        model_dimension=200,
        feed_forward_dimension=200,
        attention_heads=2,
        attention_dimension=128,
        norm="post",
        attention_bias=False,
        vocabulary_size=vocabulary_size,
    )


class LanguageModel(PositionedNetwork):
    """Encoder layers over a text without padding, and one embedding for input and output.

    Shapes: B sequences, T positions, d model dimension.
    """

    def __init__(self, architecture: TransformerArchitecture, dropouts: Dropouts | None = None) -> None:
        dropouts = dropouts or Dropouts()
        super().__init__(architecture, dropouts)
        self.encoder = Encoder(architecture, dropouts)
        self.initialize()

    def forward(self, tokens: Tensor) -> Tensor:
        """Token ids [B, T] -> [B, T, d], from which `logits` predicts each next token."""
        x = self.embedding_dropout(self.encoder.input(self.embed_source(tokens)))
        encoded: Tensor = self.encoder(x, causal_mask(tokens.shape[1], tokens.device))
        return encoded
