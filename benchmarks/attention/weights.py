"""Attention weights of a network: those of one attention, recorded while it runs."""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.model_file.architecture import AttentionKind
from pocketmt.models.inputs import decoder_input, encoder_input, pad
from pocketmt.models.network import TranslationNetwork

# Each kind's stack of layers, and its sub-layer.
_PLACES: Final[dict[AttentionKind, tuple[str, str]]] = {
    "cross": ("decoder", "cross_attention"),
    "encoder": ("encoder", "self_attention"),
    "decoder": ("decoder", "self_attention"),
}


@torch.inference_mode()
def attention_weights(
    model: TranslationNetwork, kind: AttentionKind, layer: int, source: Sequence[int], target: Sequence[int]
) -> Tensor:
    """Return the weights of one attention for one sentence and a given translation of it.

    Args:
        model: in evaluation mode.
        kind: "cross" from target to source, "encoder" and "decoder" within source and target.
        layer: counted from 0.
        source: piece ids without eos.
        target: the same, of the translation that the decoder reads (teacher forcing).

    Returns:
        float32 [heads, queries, keys]; the weights of a query add up to 1 (approximately, for a fully quantized
        network). Source positions are its pieces and eos. Target queries predict its pieces and eos; target keys are
        the decoder's inputs: bos, then the pieces.
    """
    architecture = model.architecture
    stack, attention = _PLACES[kind]
    stored_layers = model.get_submodule(f"{stack}.layers")
    assert isinstance(stored_layers, nn.ModuleList)
    round_of_layer, stored_layer = divmod(layer, len(stored_layers))
    softmax = stored_layers.get_submodule(f"{stored_layer}.{attention}.attention.softmax")
    recorded: list[Tensor] = []

    def record(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor | tuple[Tensor, Tensor, Tensor]) -> None:
        if not isinstance(output, Tensor):  # codes, scale and offset, in a fully quantized network
            codes, scale, offset = output
            output = (codes * scale + offset).masked_fill(inputs[0] == -torch.inf, 0.0)
        recorded.append(output[0].float())

    handle = softmax.register_forward_hook(record)
    try:
        model(pad([encoder_input(architecture, source)]), pad([decoder_input(architecture, target)]))
    finally:
        handle.remove()
    return recorded[round_of_layer]
