"""What a network attends to: the weights of one attention, taken while it runs."""

from collections.abc import Sequence
from typing import Final, Literal

import torch
from torch import Tensor, nn

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import LstmArchitecture, TransformerArchitecture
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import pad
from pocketmt.text.vocabulary import BOS, EOS

Kind = Literal["cross", "encoder", "decoder"]
# Which attention a kind is: stack of layers, and sub-layer of each.
_PLACES: Final = {
    "cross": ("decoder", "cross_attention"),
    "encoder": ("encoder", "self_attention"),
    "decoder": ("decoder", "self_attention"),
}


def attention_heads(model: TranslationNetwork, kind: Kind) -> list[int]:
    """Return how many heads each layer's attention of this kind has; tied layers count as often as they are run.

    Raises ConfigurationError where the model has no such attention.
    """
    architecture = model.architecture
    if isinstance(architecture, LstmArchitecture):
        if kind != "cross":
            raise ConfigurationError("the model is recurrent, it has no self-attention: look at another kind")
        return [architecture.attention_heads]
    assert isinstance(architecture, TransformerArchitecture)
    if kind == "decoder" and architecture.decoder_autoregression != "self_attention":
        raise ConfigurationError("the decoder is recurrent, it has no self-attention: look at another kind")
    if kind == "encoder":
        return [sizes.heads for sizes in architecture.encoder_sizes()]
    own = [sizes.cross_heads if kind == "cross" else sizes.heads for sizes in architecture.decoder_sizes()]
    return own * (architecture.decoder_layers // len(own))


@torch.inference_mode()
def attention_weights(
    model: TranslationNetwork, kind: Kind, layer: int, source: Sequence[int], target: Sequence[int]
) -> Tensor:
    """Return the weights of one attention for one sentence and a given translation of it.

    Args:
        model: in evaluation mode.
        kind: "cross" from target to source, "encoder" and "decoder" within source and target.
        layer: counted from 0.
        source: piece ids without eos.
        target: the same; it is read as in training, whatever the model would write.

    Returns:
        float32 [heads, queries, keys], rows adding up to 1 (of a fully quantized network nearly). Positions of the
        source are its pieces and eos. Queries of the target are where its pieces and eos are written; keys of the
        target are what is read there: bos, its pieces.
    """
    stack, attention = _PLACES[kind]
    own_layers = model.get_submodule(f"{stack}.layers")
    assert isinstance(own_layers, nn.ModuleList)
    round_of_layer, own_layer = divmod(layer, len(own_layers))
    softmax = own_layers.get_submodule(f"{own_layer}.{attention}.attention.softmax")
    taken: list[Tensor] = []

    def take(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor | tuple[Tensor, Tensor, Tensor]) -> None:
        if not isinstance(output, Tensor):  # of a fully quantized network: codes, their scale and offset
            codes, scale, offset = output
            output = (codes * scale + offset).masked_fill(inputs[0] == -torch.inf, 0.0)
        taken.append(output[0].float())

    handle = softmax.register_forward_hook(take)
    try:
        model(pad([[*source, EOS]]), pad([[BOS, *target]]))
    finally:
        handle.remove()
    return taken[round_of_layer]
