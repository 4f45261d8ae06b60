"""Quantization after training with error compensation (Frantar et al. 2023), by layers' inputs on some text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.models.network import TranslationNetwork
from pocketmt.quantization.error_compensation import compensated_codes
from pocketmt.quantization.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, fit, quantize
from pocketmt.training.data import Pair, make_batch
from pocketmt.training.steps import DivergedError

# The rows of the tied embedding are also inputs of the network, where the errors of all weights count alike. This is
# their share of the mean square of the output layer's inputs, chosen on Multi30k's validation text among 0, 0.3 and 3.
INPUT_SHARE: Final = 0.3


def compensate(
    network: TranslationNetwork, groups: Mapping[str, Sequence[RowGroup]], pairs: Sequence[Pair]
) -> dict[str, QuantizedMatrix]:
    """Quantize matrices so that each layer's outputs on some text change little; the network is not changed.

    A matrix whose rows are only looked up has no outputs: its codes are the nearest ones.

    Args:
        network: in full precision, or with other matrices quantized already.
        groups: row groups of each matrix to quantize.
        pairs: text, as piece ids.
    """
    weights = network.state_dict()
    lookups = network.architecture.lookup_matrices
    hessians = collect_hessians(network, [name for name in groups if name not in lookups], pairs)
    found = {name: quantize(parts, weights[name]) for name, parts in groups.items() if name in lookups}
    return found | {
        name: [
            QuantizedGroup(compensated_codes(part.scheme, part.of(weights[name]), hessian, parameters), parameters)
            for part, parameters in zip(groups[name], fit(groups[name], weights[name]), strict=True)
        ]
        for name, hessian in hessians.items()
    }


@torch.no_grad()
def collect_hessians(network: TranslationNetwork, matrices: Sequence[str], pairs: Sequence[Pair]) -> dict[str, Tensor]:
    """Return X^T X, float64 [columns, columns], of the inputs X of layers, summed over the positions of a text.

    Those of the output projection are the decoder's outputs; for a tied embedding, INPUT_SHARE of their mean square is
    added to the diagonal.

    Raises DivergedError if an input is not finite.

    Args:
        network: in evaluation mode meanwhile.
        matrices: names of the layers' weights, none of which is only looked up.
        pairs: the text; targets are given as in training.
    """
    sums: dict[str, Tensor] = {}
    output = network.architecture.output_matrix

    def add(name: str, inputs: Tensor) -> None:
        rows = inputs.flatten(0, -2).double()
        sums[name] = sums.get(name, 0.0) + rows.t() @ rows

    def taker(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        return lambda module, inputs: add(name, inputs[0])

    handles = [
        network.get_submodule(name.removesuffix(".weight")).register_forward_pre_hook(taker(name))
        for name in matrices
        if name != output
    ]
    was_training = network.training
    network.eval()
    of_encoder = all(name.startswith("encoder.") for name in matrices)
    try:
        for pair in pairs:  # one by one: no position is padding
            batch = make_batch([pair], network.architecture, str(network.embedding.weight.device))
            if of_encoder:
                network.encode(batch.source)
                continue
            decoded = network(batch.source, batch.target_inputs)
            if output in matrices:
                add(output, decoded)
    finally:
        for handle in handles:
            handle.remove()
        network.train(was_training)
    for name, hessian in sums.items():
        if not hessian.isfinite().all():
            raise DivergedError(
                f"the inputs of {name} are not finite on the text, so its errors cannot be compensated: choose a model "
                "whose training has not diverged"
            )
    if output in sums and network.architecture.output_projection == "tied":
        sums[output].diagonal().add_(INPUT_SHARE * sums[output].diagonal().mean())
    return sums
