"""The network of a model file in a chosen precision."""

from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.errors import EngineError
from pocketmt.model_file import ModelFile, open_model
from pocketmt.models.attention import use_attention_for_all_shapes
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.packing.decoded import DecodedParameters
from pocketmt.packing.device.exact_sums import exact_linear, use_exact_sums
from pocketmt.packing.reference.network import QuantizedLinear, load_reference, stored_matrix
from pocketmt.packing.reference.stored_rows import LookupTableRows, StoredRows
from pocketmt.quantization.activations.dynamic import quantize_rows

# float32: what the engine computes: products of a file's quantized matrices are those of integers, all else is float32.
# float16, bfloat16: weights are decoded when the file is loaded, and nothing is quantized while it runs.
# packed_*: the same numbers, but quantized matrices keep their codes, which are decoded for each product.
# int8_*: products of all matrices are those of 8-bit integers, all else is in the other type.
PRECISIONS: Final = (
    *("float32", "float16", "bfloat16", "packed_float16", "packed_bfloat16"),
    *("int8_float32", "int8_float16", "int8_bfloat16"),
)
DEFAULT_PRECISION: Final = "float32"
_PACKED: Final = "packed_"
_TYPES: Final = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class QuantizedOutput(QuantizedLinear):
    """A quantized output projection in a network of any float type; its logits are float32."""

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> float32 [.., outputs]."""
        return super().forward(x if self.takes_kernels(x) else x.float())


class CastingLinear(QuantizedOutput):
    """A quantized linear layer in a network of any float type."""

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> [.., outputs], of the type of x."""
        return self.by_kernels(x, x.dtype) if self.takes_kernels(x) else super().forward(x).to(x.dtype)


class DecodingLinear(nn.Module):
    """A linear layer whose weight is decoded from its codes for each product, in the type of its input."""

    bias: Tensor | None

    def __init__(self, stored: QuantizedLinear, bias: Tensor | None) -> None:
        """Take the stored weight [outputs, inputs], and a bias [outputs] in the type of the network."""
        super().__init__()
        self.stored = stored
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> [.., outputs]."""
        weight = self.stored.weight().to(x.dtype)
        return nn.functional.linear(x, weight, self.bias) if x.is_cuda else exact_linear(x, weight, self.bias)


def load_network(path: str, precision: str, device: torch.device) -> TranslationNetwork:
    """Load a model file as a network in evaluation mode.

    Args:
        path: of the model file.
        precision: one of `PRECISIONS`.
        device: where it runs. On a GPU, weights that take few values stay in 1, 2 or 4 bits and others of a quantized
            matrix in 8, and are decoded for each product. On the processor, a network that rounds its activations has
            sums in double precision (`exact_sums`).

    Raises:
        EngineError: there is no such precision.
        ModelFileError: as `open_model` does.
    """
    check_precision(precision)
    if precision == "float32":
        return _placed(load_reference(path), device)
    with open_model(path) as file:
        parameters = DecodedParameters(file)
        weights = {name: parameters[name] for name in file.architecture.parameter_shapes()}
        network = make_network(file.architecture)
        network.load_state_dict(weights)
        _change_type(network, precision)
        if precision.startswith(_PACKED):
            _decode_for_each_product(network, file)
    return _placed(network, device)


def check_precision(precision: str) -> None:
    """Raise EngineError if there is no such precision."""
    if precision not in PRECISIONS:
        raise EngineError(f"precision is {precision!r:.40}, choose one of {', '.join(PRECISIONS)}")


def in_precision(network: TranslationNetwork, precision: str, device: torch.device) -> TranslationNetwork:
    """Change a float32 network to one of `PRECISIONS`, in evaluation mode on a device; it has no codes to pack."""
    _change_type(network, precision)
    return _placed(network, device)


def _change_type(network: TranslationNetwork, precision: str) -> None:
    weights = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    kind, _, name = precision.rpartition("_")
    network.to(_TYPES[name])
    if kind == "int8":
        _quantize(network, weights)


def _placed(network: TranslationNetwork, device: torch.device) -> TranslationNetwork:
    if device.type == "cuda":
        use_attention_for_all_shapes()
        for module in network.modules():
            if isinstance(module, StoredRows):
                module.store_packed()
    elif _rounds(network):
        use_exact_sums(network)
    return network.eval().requires_grad_(False).to(device)


def _rounds(network: TranslationNetwork) -> bool:
    """Return whether a network rounds the inputs of its products."""
    quantized = any(isinstance(module, QuantizedLinear) for module in network.modules())
    return quantized or network.embedding.weight.dtype != torch.float32


def _decode_for_each_product(network: TranslationNetwork, file: ModelFile) -> None:
    """Replace the products with the quantized matrices of a file by those with their codes."""
    output = network.architecture.output_matrix
    if output in file.matrices:
        network.projection = DecodingLinear(stored_matrix(file, output), _bias(network.output.bias))
    for name, module in list(network.named_modules()):
        if isinstance(module, nn.Linear) and f"{name}.weight" in file.matrices:
            parent, _, attribute = name.rpartition(".")
            linear = DecodingLinear(stored_matrix(file, f"{name}.weight"), _bias(module.bias))
            setattr(network.get_submodule(parent), attribute, linear)


def _bias(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


def _quantize(network: TranslationNetwork, parameters: Mapping[str, Tensor]) -> None:
    """Replace the products of a network by those of its float32 parameters, rounded to 8 bits."""
    output = network.architecture.output_matrix
    network.projection = _quantized(QuantizedOutput, parameters[output], network.output.bias)
    for name, module in list(network.named_modules()):
        if isinstance(module, nn.Linear):
            parent, _, attribute = name.rpartition(".")
            linear = _quantized(CastingLinear, parameters[f"{name}.weight"], module.bias)
            setattr(network.get_submodule(parent), attribute, linear)


def _quantized(kind: type[QuantizedLinear], weight: Tensor, bias: Tensor | None) -> QuantizedLinear:
    """Return the product with a weight [rows, columns], rounded to 8 bits with a scale for each row."""
    levels, scale = quantize_rows(weight)
    rows = LookupTableRows(levels=levels.float(), scale=scale)
    return kind([rows], None, None if bias is None else bias.detach().float())
