"""The reference of a model file: a PyTorch model that computes what the engine computes, from the same codes."""

import os
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.model_file import Architecture, ModelFile, RowGroup, open_model
from pocketmt.model_file.bit_packing import unpack_nibbles
from pocketmt.models.transformer import Transformer
from pocketmt.quantization.activations import integer_product

_TORCH_TYPES: Final = {"F32": torch.float32, "BF16": torch.bfloat16, "I8": torch.int8, "U8": torch.uint8}


class QuantizedLinear(nn.Module):
    """A linear layer whose weight is integers with a scale a row, and whose input is quantized at run time."""

    levels: Tensor
    scale: Tensor
    bias: Tensor | None

    def __init__(self, levels: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        """Take levels, whole numbers as float32 [outputs, inputs], scale [outputs] and bias [outputs] or None."""
        super().__init__()
        self.register_buffer("levels", levels)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> [.., outputs]."""
        product = integer_product(x, self.levels, self.scale)
        return product if self.bias is None else product + self.bias


class ReferenceTransformer(Transformer):
    """A Transformer whose output projection may be quantized as its embedding is stored."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.projection: QuantizedLinear | None = None

    def logits(self, decoded: Tensor) -> Tensor:
        """Decoder output [.., d] -> logits [.., V]."""
        return super().logits(decoded) if self.projection is None else self.projection(decoded)


def load_reference(path: str | os.PathLike[str]) -> Transformer:
    """Load a model file as a PyTorch model in evaluation mode.

    Weights are decoded from their codes. Every product with a quantized matrix, the output projection among them,
    quantizes its activations per row and adds exactly, as the engine does; the rest is plain float32.

    Raises:
        ModelFileError: as `open_model` does.
    """
    with open_model(path) as file:
        quantized = {name: _integers(file, name) for name in file.matrices}
        model = ReferenceTransformer(file.architecture)
        weights = {name: levels * scale[:, None] for name, (levels, scale) in quantized.items()}
        model.load_state_dict(
            {name: weights[name] if name in weights else _tensor(file, name) for name in model.state_dict()}
        )
    for name, (levels, scale) in quantized.items():
        module = name.removesuffix(".weight")
        if module == "embedding":
            model.projection = QuantizedLinear(levels, scale, None)
            continue
        parent, _, attribute = module.rpartition(".")
        bias = model.get_submodule(module).bias
        assert bias is None or isinstance(bias, Tensor)
        setattr(model.get_submodule(parent), attribute, QuantizedLinear(levels, scale, bias))
    return model.eval().requires_grad_(False)


def _integers(file: ModelFile, name: str) -> tuple[Tensor, Tensor]:
    """Return a quantized matrix's integer levels, float32 [rows, columns], and its scale a row, float32 [rows]."""
    groups = [_group(file, f"{name}.{index}", group) for index, group in enumerate(file.matrices[name])]
    return torch.cat([levels for levels, _ in groups]), torch.cat([scale for _, scale in groups])


def _group(file: ModelFile, name: str, group: RowGroup) -> tuple[Tensor, Tensor]:
    codes = _tensor(file, f"{name}.codes")
    if group.levels is None:
        levels = codes.float()
    else:
        table = torch.tensor(group.levels, dtype=torch.float32)
        levels = table[torch.from_numpy(unpack_nibbles(codes.numpy(), group.columns)).long()]
    return levels, _tensor(file, f"{name}.scale").float().expand(group.rows)


def _tensor(file: ModelFile, name: str) -> Tensor:
    """Return a copy of a stored tensor in its own dtype."""
    entry = file.tensors[name]
    return torch.frombuffer(bytearray(file.data(name)), dtype=_TORCH_TYPES[entry.dtype]).view(entry.shape)
