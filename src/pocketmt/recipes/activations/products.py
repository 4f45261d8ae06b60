"""Products of quantized activations and quantized weights [L5]: which there are in a recipe, and in training.

Paper L quantizes "activations coming into a matrix multiplication" (section 3.5), and tells them apart from the
parameters that they meet (section 4.3): here it is what comes to a matrix whose weights are quantized, the output
projection among them. Attention's own two products have no parameters: both operands, the probabilities of a softmax
too, would have the one scale that suits what layers are given. They stay in full precision, as biases and norms do.
(Paper Q quantizes them, within ranges of their own: `pocketmt.recipes.activations.fully_quantized`.)
"""

from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn

from pocketmt.errors import ConfigurationError
from pocketmt.models.transformer import Transformer
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.recipes.description.schema import Products, Recipe, Stage

EMBEDDING = "embedding"


def plan_products(
    stage: Stage,
    earlier: LogarithmicActivations | None,
    weights_quantized: bool,
    activations_quantized: bool,
    place: str,
) -> LogarithmicActivations | None:
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
    found = LogarithmicActivations(settings.bits, settings.scale) if isinstance(settings, Products) else earlier
    if found is not None and activations_quantized:
        where = "products" if isinstance(settings, Products) else "activations"
        raise ConfigurationError(
            f"{place}.{where}: activations are quantized within ranges or on a fixed scale, not both: leave out "
            "[stages.activations] or [stages.products]"
        )
    return found


def recipe_products(recipe: Recipe) -> LogarithmicActivations | None:
    """Return how the model that a recipe makes quantizes what comes to its quantized weights."""
    found = [stage.products for stage in recipe.stages if isinstance(stage.products, Products)]
    return LogarithmicActivations(found[0].bits, found[0].scale) if found else None


def quantize_products(model: Transformer, products: LogarithmicActivations, matrices: Iterable[str]) -> None:
    """Let what comes to some of a Transformer's matrices pass through fake quantization, in place.

    Args:
        model: any Transformer; parameters keep their names.
        products: how.
        matrices: names of weights. The embedding's product is the output projection; rows that are looked up in it are
            no activations.
    """

    def quantize_input(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (products.fake_quantize(inputs[0]), *inputs[1:])

    def quantize_decoded(_: nn.Module, __: tuple[Any, ...], outputs: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        return products.fake_quantize(outputs[0]), outputs[1]

    for name in matrices:
        module = name.removesuffix(".weight")
        if module == EMBEDDING:
            model.decoder.register_forward_hook(quantize_decoded)  # nothing but the projection reads it
        else:
            model.get_submodule(module).register_forward_pre_hook(quantize_input)
