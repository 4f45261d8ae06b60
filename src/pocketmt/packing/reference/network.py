"""The reference of a model file: a PyTorch model that computes what the engine computes, from the same codes."""

import os
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from pocketmt.gpu_kernels.availability import kernels_take
from pocketmt.model_file import ModelFile, open_model
from pocketmt.model_file.activations.activation_quantization import (
    StoredLogarithmicActivations,
    StoredStaticActivations,
    activation_scale_name,
)
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.packing.reference.activation_ranges import ActivationRanges, input_parameters, quantize_operations
from pocketmt.packing.reference.stored_rows import LookupTableRows, read_tensor, stored_rows
from pocketmt.quantization.activations.dynamic import quantize_rows
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.activations.quantization_parameters import QuantizationParameters
from pocketmt.quantization.activations.static import StaticActivations
from pocketmt.quantization.integer_products import exact_sums


class StaticInput(nn.Module):
    """Quantizes inputs within a scale that the file states."""

    scale: Tensor

    def __init__(self, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return codes and scales of x, as `StaticActivations.quantize_rows` does."""
        return StaticActivations().quantize_rows(x, self.scale)


class QuantizedLinear(nn.Module):
    """A linear layer whose weight consists of row groups of integers, and whose input is quantized at run time."""

    order: Tensor | None
    bias: Tensor | None
    input_parameters: QuantizationParameters | None

    def __init__(
        self,
        groups: Sequence[nn.Module],
        order: Tensor | None,
        bias: Tensor | None,
        quantize: Callable[[Tensor], tuple[Tensor, Tensor]] = quantize_rows,
    ) -> None:
        """Create a linear layer.

        Args:
            groups: row groups (`stored_rows`).
            order: index of each row in the concatenated groups, [rows]; None: the rows are in order.
            bias: [rows].
            quantize: returns codes and scales of the input, as `quantize_rows` does.
        """
        super().__init__()
        self.groups = nn.ModuleList(groups)
        self.quantize = quantize
        self.register_buffer("order", order)
        self.register_buffer("bias", bias)
        self.input_parameters = None

    def use_codes_of(self, parameters: QuantizationParameters | None) -> None:
        """Multiply with the codes of an input that is quantized within one range for all elements.

        The offset of the input goes to the bias: sum_j w_j (offset + code_j scale) = scale sum_j w_j code_j + offset
        sum_j w_j.
        """
        if parameters is None or not parameters.uniform:
            return
        self.input_parameters = parameters
        offset = (self.weight().double().sum(dim=-1) * parameters.offset.double()).float()
        self.bias = offset if self.bias is None else self.bias + offset

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        weight = torch.cat([group.weight() for group in self.groups])  # type: ignore[operator]
        return weight if self.order is None else weight[self.order]

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> [.., outputs]."""
        if self.takes_kernels(x):
            return self.by_kernels(x, torch.float32)
        parameters = self.input_parameters
        if parameters is None:
            codes, scale = self.quantize(x)
        else:
            codes, scale = parameters.codes(x).to(torch.int8), parameters.scale.expand(x.shape[:-1])
        product = torch.cat([group(codes, scale) for group in self.groups], dim=-1)
        if self.order is not None:
            product = product[..., self.order]
        return product if self.bias is None else product + self.bias

    def takes_kernels(self, x: Tensor) -> bool:
        """Return whether `by_kernels` computes this layer, with the same numbers."""
        plain = self.order is None and self.input_parameters is None and self.quantize is quantize_rows
        return kernels_take(x) and plain and len(self.groups) == 1 and isinstance(self.groups[0], LookupTableRows)

    def by_kernels(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        """[.., inputs] -> [.., outputs] of a float type."""
        from pocketmt.gpu_kernels.quantized_rows import quantized_rows, scaled_sums

        (rows,) = self.groups
        assert isinstance(rows, LookupTableRows)
        codes, scale = quantized_rows(x.flatten(0, -2))
        sums = exact_sums(codes, rows.levels)
        return scaled_sums(sums, scale, rows.scale, self.bias, dtype).view(*x.shape[:-1], -1)


def load_reference(path: str | os.PathLike[str]) -> TranslationNetwork:
    """Load a model file as a PyTorch model in evaluation mode.

    Weights, biases and norms are decoded from their codes. The inputs of quantized matrices, including the output
    projection, are quantized dynamically or as the file states, and products are exact sums of codes, as in the engine.
    Operations that the file quantizes within trained ranges also use exact sums. Everything else is plain float32.

    Raises:
        ModelFileError: as `open_model` does.
    """
    with open_model(path) as file:
        linears = {
            name: QuantizedLinear(*_row_groups(file, name), None, _quantizer(file, name)) for name in file.matrices
        }
        decoded = {name: linear.weight() for name, linear in linears.items()}
        for name, vectors in file.vector_groups.items():
            del linears[name]
            decoded |= zip(vectors, decoded.pop(name), strict=True)
        model = make_network(file.architecture)
        model.load_state_dict(
            {name: decoded[name] if name in decoded else read_tensor(file, name) for name in model.state_dict()}
        )
        ranges = ActivationRanges(file)
    inputs = input_parameters(model, ranges)
    for name, linear in linears.items():
        if name in model.architecture.lookup_matrices:
            continue
        module = name.removesuffix(".weight")
        if name == model.architecture.output_matrix:
            linear.bias = None if model.output.bias is None else model.output.bias.detach()
            linear.use_codes_of(inputs.get(module))
            model.projection = linear
            continue
        parent, _, attribute = module.rpartition(".")
        bias = model.get_submodule(module).bias
        assert bias is None or isinstance(bias, Tensor)
        linear.bias = bias if bias is None else bias.detach()
        linear.use_codes_of(inputs.get(module))
        setattr(model.get_submodule(parent), attribute, linear)
    if file.activation_ranges is not None:
        quantize_operations(model, ranges)
    return model.eval().requires_grad_(False)


def stored_matrix(file: ModelFile, name: str) -> QuantizedLinear:
    """Return the codes of a matrix or vector group, as a layer without a bias."""
    return QuantizedLinear(*_row_groups(file, name), None)


def decoded_matrix(file: ModelFile, name: str) -> Tensor:
    """Return the weights that the codes of a matrix or vector group stand for, float32 [rows, columns]."""
    return stored_matrix(file, name).weight()


def _quantizer(file: ModelFile, matrix: str) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """Return the function that quantizes the inputs of a matrix."""
    stored = file.activation_quantization
    if isinstance(stored, StoredLogarithmicActivations):
        return LogarithmicActivations(stored.bits, stored.scale).quantize_rows
    looked_up = file.architecture.lookup_matrices | file.vector_groups.keys()
    if isinstance(stored, StoredStaticActivations) and matrix not in looked_up:
        return StaticInput(read_tensor(file, activation_scale_name(matrix)))
    return quantize_rows


def _row_groups(file: ModelFile, name: str) -> tuple[Sequence[nn.Module], Tensor | None]:
    """Return the row groups of a matrix, and the index of each row in the concatenated groups; None: in order."""
    groups = [stored_rows(file, f"{name}.{index}", group) for index, group in enumerate(file.matrices[name])]
    indices = file.group_of_row(name)
    if indices is None:
        return groups, None
    concatenated = torch.tensor(list(indices)).argsort(stable=True)  # rows keep their order in a group
    return groups, concatenated.argsort()
