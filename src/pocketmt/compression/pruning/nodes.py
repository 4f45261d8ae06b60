"""Choice of feed-forward nodes to prune, by their activations or weights (Prato et al. 2020, appendix B)."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from pocketmt.compression.pruning.sublayers import Sublayer
from pocketmt.models.inputs import PADDING
from pocketmt.models.network import TranslationNetwork
from pocketmt.pruning.feed_forward_nodes import above_lowest, above_threshold, running_maxima, weight_norms
from pocketmt.pruning.slicing import Cut, at_least_one
from pocketmt.recipes.pruning import FeedForwardNodes
from pocketmt.training.data import Batch


@torch.no_grad()
def node_maxima(
    network: TranslationNetwork, sublayers: Sequence[Sublayer], batches: Iterable[Batch]
) -> dict[str, Tensor]:
    """Return x_max, the running maximum of each node's activation, [nodes], by the names of the feed-forward layers.

    Outputs of the activation are observed before they are quantized and without dropout; padding is ignored.

    Args:
        network: in evaluation mode afterwards.
        sublayers: the feed-forward layers to observe.
        batches: text, at least one batch.
    """
    maxima: dict[str, Tensor] = {}
    seen: dict[str, list[Tensor]] = {each.name: [] for each in sublayers}  # tied layers run several times
    handles = [_activation(network, name).register_forward_hook(_taker(outputs)) for name, outputs in seen.items()]
    network.eval()
    try:
        for batch in batches:
            network(batch.source, batch.target_inputs)
            for name, outputs in seen.items():
                text = (batch.source if name.startswith("encoder.") else batch.target_inputs) != PADDING
                activations = torch.cat([output[text] for output in outputs])
                maxima[name] = running_maxima(maxima.get(name), activations)
                outputs.clear()
    finally:
        for handle in handles:
            handle.remove()
    return maxima


def _activation(network: TranslationNetwork, name: str) -> nn.Module:
    """Return a feed-forward layer's activation, which a quantization range may follow."""
    activation = network.get_submodule(f"{name}.activation")
    return activation[0] if isinstance(activation, nn.Sequential) else activation


def _taker(outputs: list[Tensor]) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
    return lambda module, inputs, output: outputs.append(output)


def node_cuts(
    settings: FeedForwardNodes,
    sublayers: Sequence[Sublayer],
    weights: Mapping[str, Tensor],
    maxima: Mapping[str, Tensor],
) -> dict[str, Cut]:
    """Return what is kept of the tensors of feed-forward layers; at least one node of each layer is kept.

    Args:
        settings: criterion and amount.
        sublayers: the layers.
        weights: every parameter, quantized ones as their codes represent them.
        maxima: from `node_maxima`; empty if the criterion is the weights' norm.
    """
    cuts: dict[str, Cut] = {}
    for sublayer in sublayers:
        values = maxima.get(sublayer.name)
        if values is None:
            values = weight_norms(*(weights[name] for name in sublayer.matrices))
        if settings.threshold is not None:
            kept = above_threshold(values, settings.threshold)
        else:
            assert settings.ratio is not None
            kept = above_lowest(values, settings.ratio)
        cuts |= sublayer.cuts(at_least_one(kept, values), weights)
    return cuts
