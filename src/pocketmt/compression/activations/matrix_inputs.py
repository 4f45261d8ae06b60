"""Quantization of the inputs of quantized matrices, logarithmic or with static scales, in recipes and in training.

Aji and Heafield 2020 quantize "activations coming into a matrix multiplication" (section 3.5) and tell them apart from
the parameters that they are multiplied with (section 4.3). Here these are the inputs of matrices whose weights are
quantized, the output projection included. The two products of attention have no parameters; their operands stay in
full precision, as biases and norms do, and as in Behnke et al. 2021 (section 3.2), unless a recipe asks for them in
training. Prato et al. 2020 quantize them within ranges: see `pocketmt.compression.activations.fully_quantized`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.attention import DotProductAttention
from pocketmt.models.inputs import decoder_input, encoder_input, pad
from pocketmt.models.network import TranslationNetwork
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.static import CalibratedActivations, StaticActivations, calibrated_scale
from pocketmt.recipes.schema import MatrixInputs, Stage, StaticInputs
from pocketmt.training.checkpoints import Weights
from pocketmt.training.data import Pair

SCALE_BUFFER = "activation_scale"  # buffer of a linear layer; 0 until it is calibrated
InputQuantization = LogarithmicActivations | StaticActivations


def plan_input_quantization(
    stage: Stage, earlier: InputQuantization | None, weights_quantized: bool, operations_quantized: bool, place: str
) -> InputQuantization | None:
    """Return the quantization of matrix inputs from a stage on; None: training does not quantize them.

    Args:
        stage: of the recipe.
        earlier: of the stages before it.
        weights_quantized: whether any matrix is quantized so far.
        operations_quantized: whether operations are quantized within ranges so far.
        place: of the stage, for messages.

    Raises ConfigurationError, naming `place`, for a second quantization of inputs, or one without quantized matrices.
    """
    settings = stage.matrix_inputs
    if isinstance(settings, MatrixInputs) and earlier is not None:
        raise ConfigurationError(f"{place}.matrix_inputs: an earlier stage quantizes matrix inputs: leave it out")
    if isinstance(settings, MatrixInputs) and not weights_quantized:
        raise ConfigurationError(f"{place}.matrix_inputs: no matrix is quantized: add [[stages.quantize]]")
    found = _input_quantization(settings) if isinstance(settings, MatrixInputs) else earlier
    if found is not None and operations_quantized:
        where = "matrix_inputs" if isinstance(settings, MatrixInputs) else "activations"
        raise ConfigurationError(
            f"{place}.{where}: activations are quantized within ranges or as matrix inputs, not both: leave out "
            "[stages.activations] or [stages.matrix_inputs]"
        )
    return found


def _input_quantization(settings: MatrixInputs) -> InputQuantization:
    if isinstance(settings, StaticInputs):
        return StaticActivations(settings.sentences)
    return LogarithmicActivations(settings.bits, settings.scale, settings.attention)


def packed_input_quantization(
    quantization: InputQuantization | None, buffers: Weights
) -> LogarithmicActivations | CalibratedActivations | None:
    """Return the quantization for a model file; `buffers` of the network hold calibrated scales."""
    if not isinstance(quantization, StaticActivations):
        return quantization
    ending = f".{SCALE_BUFFER}"
    scales = {name.removesuffix(ending): scale for name, scale in buffers.items() if name.endswith(ending)}
    return CalibratedActivations({f"{module}.weight": scale for module, scale in scales.items()})


def quantize_inputs(model: TranslationNetwork, quantization: InputQuantization, matrices: Iterable[str]) -> None:
    """Add fake quantization of the inputs of some matrices to a network, in place; parameters keep their names.

    Args:
        model: any network. Calibrated scales become buffers of its layers; inputs without a scale are not changed.
        quantization: of the inputs.
        matrices: names of weights. Rows that are looked up in one are no inputs.
    """
    for name in multiplied(model.architecture, matrices):
        module = model.get_submodule(name.removesuffix(".weight"))
        quantize: Callable[[Tensor], Tensor] = quantization.fake_quantize  # type: ignore[assignment]
        if isinstance(quantization, StaticActivations):
            module.register_buffer(SCALE_BUFFER, torch.zeros(1))
            quantize = partial(_calibrated, quantization, module)
        _change_inputs(model, name, quantize)
    if isinstance(quantization, LogarithmicActivations) and quantization.attention:
        for attention in (each for each in model.modules() if isinstance(each, DotProductAttention)):
            for name in ("query", "key", "value"):
                setattr(attention, name, _QuantizedOperand(quantization))
            attention.softmax = nn.Sequential(attention.softmax, _QuantizedOperand(quantization))


class _QuantizedOperand(nn.Module):
    """Fake quantization of an operand of attention, [.., columns]; zeros, the weights of masked positions, stay."""

    def __init__(self, quantization: LogarithmicActivations) -> None:
        super().__init__()
        self.quantization = quantization

    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x == 0, x, self.quantization.fake_quantize(x))


def multiplied(architecture: Architecture, matrices: Iterable[str]) -> list[str]:
    """Return those of the matrices that inputs are multiplied with; the rows of the others are looked up only."""
    return [name for name in matrices if name not in architecture.lookup_matrices]


def _calibrated(quantization: StaticActivations, module: nn.Module, x: Tensor) -> Tensor:
    scale = module.get_buffer(SCALE_BUFFER)
    return quantization.fake_quantize(x, scale) if bool(scale > 0) else x


def _change_inputs(model: TranslationNetwork, matrix: str, change: Callable[[Tensor], Tensor]) -> list[RemovableHandle]:
    """Pass the inputs of a matrix through a function."""

    def change_input(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (change(inputs[0]), *inputs[1:])

    def change_decoded(_: nn.Module, __: tuple[Any, ...], outputs: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        return change(outputs[0]), outputs[1]

    if matrix == model.architecture.output_matrix:
        # Only the projection reads the decoder's output.
        return [model.get_submodule("decoder").register_forward_hook(change_decoded)]
    return [model.get_submodule(matrix.removesuffix(".weight")).register_forward_pre_hook(change_input)]


@torch.no_grad()
def calibrate(
    model: TranslationNetwork, quantization: StaticActivations, matrices: Sequence[str], pairs: Sequence[Pair]
) -> None:
    """Calibrate the scales that are still missing, each from the inputs in some sentences.

    An instance of an activation is the input in one sentence, with its reference as the target (Behnke et al. 2021,
    section 3.2).

    Args:
        model: after `quantize_inputs`; without dropout meanwhile.
        quantization: of the inputs.
        matrices: names of the weights.
        pairs: sentences and their translations, as piece ids.
    """
    layers = {
        name: model.get_submodule(name.removesuffix(".weight")) for name in multiplied(model.architecture, matrices)
    }
    new = [name for name, layer in layers.items() if not bool(layer.get_buffer(SCALE_BUFFER) > 0)]
    largest: dict[str, list[Tensor]] = {name: [] for name in new}
    handles = [handle for name in new for handle in _change_inputs(model, name, partial(_measure, largest[name]))]
    was_training = model.training
    model.eval()
    device, architecture = model.embedding.weight.device, model.architecture
    for source, target in pairs:
        model(pad([encoder_input(architecture, source)], device), pad([decoder_input(architecture, target)], device))
    model.train(was_training)
    for handle in handles:
        handle.remove()
    for name in new:
        # A tied layer is measured each time it runs.
        scale = calibrated_scale(torch.stack(largest[name]).cpu())
        layers[name].get_buffer(SCALE_BUFFER).fill_(scale)


def _measure(largest: list[Tensor], x: Tensor) -> Tensor:
    largest.append(x.abs().max())
    return x
