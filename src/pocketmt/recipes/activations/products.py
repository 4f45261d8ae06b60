"""Products of quantized activations and quantized weights [L5, E6]: which there are in a recipe, and in training.

Paper L quantizes "activations coming into a matrix multiplication" (section 3.5), and tells them apart from the
parameters that they meet (section 4.3): here it is what comes to a matrix whose weights are quantized, the output
projection among them. Attention's own two products have no parameters: both operands, the probabilities of a softmax
too, would have the one scale that suits what layers are given. They stay in full precision, as biases and norms do; so
they do in paper E (section 3.2).
(Paper Q quantizes them, within ranges of their own: `pocketmt.recipes.activations.fully_quantized`.)
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from pocketmt.errors import ConfigurationError
from pocketmt.models.network import TranslationNetwork
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.quantization.static_activations import CalibratedActivations, StaticActivations, calibrated_scale
from pocketmt.recipes.description.schema import Products, Recipe, Stage, StaticProducts
from pocketmt.text.vocabulary import BOS, EOS
from pocketmt.training.checkpoints import Weights
from pocketmt.training.data import Pair

EMBEDDING_MODULE = "embedding"


# How the activations of products are quantized.
ProductActivations = LogarithmicActivations | StaticActivations
SCALE_BUFFER = "activation_scale"  # buffer of a linear layer; 0 until it is calibrated


def plan_products(
    stage: Stage,
    earlier: ProductActivations | None,
    weights_quantized: bool,
    activations_quantized: bool,
    place: str,
) -> ProductActivations | None:
    """Return how activations that meet quantized weights are quantized from a stage on; None: not at all in training.

    Args:
        stage: of the recipe.
        earlier: of the stages before it.
        weights_quantized: whether this stage or one before it quantizes any matrix.
        activations_quantized: whether this stage or one before it quantizes activations within ranges.
        place: of the stage, for messages.

    Raises ConfigurationError, naming `place`, where products are quantized twice, or without a quantized weight.
    """
    settings = stage.products
    if isinstance(settings, Products) and earlier is not None:
        raise ConfigurationError(f"{place}.products: an earlier stage quantizes products already: leave it out")
    if isinstance(settings, Products) and not weights_quantized:
        raise ConfigurationError(
            f"{place}.products: no matrix is quantized whose products these could be: add [[stages.quantize]]"
        )
    found = _product_activations(settings) if isinstance(settings, Products) else earlier
    if found is not None and activations_quantized:
        where = "products" if isinstance(settings, Products) else "activations"
        raise ConfigurationError(
            f"{place}.{where}: activations are quantized within ranges or on a fixed scale, not both: leave out "
            "[stages.activations] or [stages.products]"
        )
    return found


def _product_activations(settings: Products) -> ProductActivations:
    if isinstance(settings, StaticProducts):
        return StaticActivations(settings.sentences)
    return LogarithmicActivations(settings.bits, settings.scale)


def recipe_products(recipe: Recipe) -> ProductActivations | None:
    """Return how the model that a recipe makes quantizes what comes to its quantized weights."""
    found = [stage.products for stage in recipe.stages if isinstance(stage.products, Products)]
    return _product_activations(found[0]) if found else None


def packed_products(
    products: ProductActivations | None, buffers: Weights
) -> LogarithmicActivations | CalibratedActivations | None:
    """Return the same as a model file holds it; `buffers` are those of the network that was calibrated."""
    if not isinstance(products, StaticActivations):
        return products
    ending = f".{SCALE_BUFFER}"
    scales = {name.removesuffix(ending): scale for name, scale in buffers.items() if name.endswith(ending)}
    return CalibratedActivations({f"{module}.weight": scale for module, scale in scales.items()})


def quantize_products(model: TranslationNetwork, products: ProductActivations, matrices: Iterable[str]) -> None:
    """Let what comes to some of a network's matrices pass through fake quantization, in place.

    Args:
        model: any network; parameters keep their names. Calibrated scales are buffers of the layers: what has none
            yet stays as it is.
        products: how.
        matrices: names of weights. The embedding's product is the output projection; rows that are looked up in it are
            no activations.
    """
    for name in matrices:
        module = model.get_submodule(name.removesuffix(".weight"))
        quantize: Callable[[Tensor], Tensor] = products.fake_quantize  # type: ignore[assignment]
        if isinstance(products, StaticActivations):
            module.register_buffer(SCALE_BUFFER, torch.zeros(1))
            quantize = partial(_calibrated, products, module)
        _watch(model, name, quantize)


def _calibrated(products: StaticActivations, module: nn.Module, x: Tensor) -> Tensor:
    scale = module.get_buffer(SCALE_BUFFER)
    return products.fake_quantize(x, scale) if bool(scale > 0) else x


def _watch(model: TranslationNetwork, matrix: str, change: Callable[[Tensor], Tensor]) -> list[RemovableHandle]:
    """Let the activations that meet a matrix pass through a function."""

    def change_input(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (change(inputs[0]), *inputs[1:])

    def change_decoded(_: nn.Module, __: tuple[Any, ...], outputs: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        return change(outputs[0]), outputs[1]

    module = matrix.removesuffix(".weight")
    if module == EMBEDDING_MODULE:
        # Nothing but the projection reads what the decoder gives.
        return [model.get_submodule("decoder").register_forward_hook(change_decoded)]
    return [model.get_submodule(module).register_forward_pre_hook(change_input)]


@torch.no_grad()
def calibrate(
    model: TranslationNetwork, products: StaticActivations, matrices: Sequence[str], pairs: Sequence[Pair]
) -> None:
    """Find the scales that are not found yet, each from the inputs that some sentences bring [E6].

    An instance of an activation is what one sentence brings to a product, translated as its reference has it.

    Args:
        model: as `quantize_products` left it; dropout is not active meanwhile.
        products: how.
        matrices: names of the weights.
        pairs: sentences and their translations, as piece ids.
    """
    layers = {name: model.get_submodule(name.removesuffix(".weight")) for name in matrices}
    new = [name for name, layer in layers.items() if not bool(layer.get_buffer(SCALE_BUFFER) > 0)]
    largest: dict[str, list[Tensor]] = {name: [] for name in new}
    handles = [handle for name in new for handle in _watch(model, name, partial(_measure, largest[name]))]
    was_training = model.training
    model.eval()
    device = model.embedding.weight.device
    for source, target in pairs:
        model(torch.tensor([[*source, EOS]], device=device), torch.tensor([[BOS, *target]], device=device))
    model.train(was_training)
    for handle in handles:
        handle.remove()
    for name in new:
        # A layer that several sub-layers run (tied ones) is measured at each.
        scale = calibrated_scale(torch.stack(largest[name]).cpu())
        layers[name].get_buffer(SCALE_BUFFER).fill_(scale)


def _measure(largest: list[Tensor], x: Tensor) -> Tensor:
    largest.append(x.abs().max())
    return x
