"""Quantization after training with error compensation (Frantar et al. 2023), by layers' inputs on some text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.models.network import TranslationNetwork
from pocketmt.quantization.error_compensation import compensated_codes
from pocketmt.quantization.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, fit
from pocketmt.training.data import Pair, make_batch

EMBEDDING: Final = "embedding.weight"
# The rows of the tied embedding are also inputs of the network, where the errors of all weights count alike. This is
# their share of the mean square of the output layer's inputs, chosen on Multi30k's validation text among 0, 0.3 and 3.
INPUT_SHARE: Final = 0.3


def compensate(
    network: TranslationNetwork, groups: Mapping[str, Sequence[RowGroup]], pairs: Sequence[Pair]
) -> dict[str, QuantizedMatrix]:
    """Quantize matrices so that each layer's outputs on some text change little; the network is not changed.

    Args:
        network: in full precision, or with other matrices quantized already.
        groups: row groups of each matrix to quantize.
        pairs: text, as piece ids.
    """
    weights = network.state_dict()
    hessians = collect_hessians(network, list(groups), pairs)
    return {
        name: [
            QuantizedGroup(
                compensated_codes(part.scheme, part.of(weights[name]), hessians[name], parameters), parameters
            )
            for part, parameters in zip(parts, fit(parts, weights[name]), strict=True)
        ]
        for name, parts in groups.items()
    }


@torch.no_grad()
def collect_hessians(network: TranslationNetwork, matrices: Sequence[str], pairs: Sequence[Pair]) -> dict[str, Tensor]:
    """Return X^T X, float64 [columns, columns], of the inputs X of layers, summed over the positions of a text.

    For the tied embedding they are the output layer's inputs, and INPUT_SHARE of their mean square is added to the
    diagonal.

    Args:
        network: in evaluation mode meanwhile.
        matrices: names of the layers' weights.
        pairs: the text; targets are given as in training.
    """
    sums: dict[str, Tensor] = {}

    def add(name: str, inputs: Tensor) -> None:
        rows = inputs.flatten(0, -2).double()
        sums[name] = sums.get(name, 0.0) + rows.t() @ rows

    def taker(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        return lambda module, inputs: add(name, inputs[0])

    handles = [
        network.get_submodule(name.removesuffix(".weight")).register_forward_pre_hook(taker(name))
        for name in matrices
        if name != EMBEDDING
    ]
    was_training = network.training
    network.eval()
    try:
        for pair in pairs:  # one by one: no position is padding
            batch = make_batch([pair], network.architecture, str(network.embedding.weight.device))
            decoded = network(batch.source, batch.target_inputs)
            if EMBEDDING in matrices:
                add(EMBEDDING, decoded)
    finally:
        for handle in handles:
            handle.remove()
        network.train(was_training)
    if EMBEDDING in sums:
        sums[EMBEDDING].diagonal().add_(INPUT_SHARE * sums[EMBEDDING].diagonal().mean())
    return sums
