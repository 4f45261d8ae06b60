"""Quantization after training with error compensation: layers' inputs on some text say which errors count."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from pocketmt.models.transformer import Transformer
from pocketmt.quantization.error_compensation import compensated_codes
from pocketmt.recipes.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, fit, quantize
from pocketmt.training.data import Pair, make_batch


def compensate(
    network: Transformer, groups: Mapping[str, Sequence[RowGroup]], pairs: Sequence[Pair]
) -> dict[str, QuantizedMatrix]:
    """Quantize matrices such that each layer's outputs on some text change little; the network itself is not changed.

    The embedding is quantized plainly: its rows are outputs of the network's first layer too, whose error is their own.

    Args:
        network: in full precision, or with other matrices quantized already.
        groups: row groups of each matrix to quantize.
        pairs: text, as piece ids.
    """
    weights = network.state_dict()
    layers = [name for name in groups if isinstance(network.get_submodule(name.removesuffix(".weight")), nn.Linear)]
    hessians = collect_hessians(network, layers, pairs)
    result = {}
    for name, parts in groups.items():
        weight = weights[name]
        if name not in hessians:
            result[name] = quantize(parts, weight)
            continue
        result[name] = [
            QuantizedGroup(compensated_codes(part.scheme, part.of(weight), hessians[name], parameters), parameters)
            for part, parameters in zip(parts, fit(parts, weight), strict=True)
        ]
    return result


@torch.no_grad()
def collect_hessians(network: Transformer, matrices: Sequence[str], pairs: Sequence[Pair]) -> dict[str, Tensor]:
    """Return X^T X, float64 [columns, columns], of the inputs X of linear layers, summed over the positions of a text.

    Args:
        network: whose layers' inputs are taken, without dropout.
        matrices: names of linear layers' weights.
        pairs: the text; the target is given as in training.
    """
    sums: dict[str, Tensor] = {}

    def taker(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def take(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            rows = inputs[0].flatten(0, -2).double()
            sums[name] = sums.get(name, 0.0) + rows.t() @ rows

        return take

    handles = [
        network.get_submodule(name.removesuffix(".weight")).register_forward_pre_hook(taker(name)) for name in matrices
    ]
    was_training = network.training
    network.eval()
    try:
        for pair in pairs:  # one by one: no position is padding
            batch = make_batch([pair], str(network.embedding.weight.device))
            network(batch.source, batch.target_inputs)
    finally:
        for handle in handles:
            handle.remove()
        network.train(was_training)
    return sums
