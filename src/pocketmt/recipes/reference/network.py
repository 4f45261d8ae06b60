"""The reference of a model file: a PyTorch model that computes what the engine computes, from the same codes."""

import os
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.model_file import ModelFile, RowGroup, open_model
from pocketmt.model_file.bit_packing import unpack_codes
from pocketmt.model_file.products import Products, StaticProducts, activation_scale_name
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.models.transformer import Transformer
from pocketmt.quantization.activations import quantize_rows
from pocketmt.quantization.binary_code import PLANE_BITS, coded_levels
from pocketmt.quantization.grid import Grid
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.quantization.products import affine_product, binary_product, level_product
from pocketmt.quantization.static_activations import StaticActivations
from pocketmt.recipes.reference.grids import Grids, input_grids, put_grids

_TORCH_TYPES: Final = {"F32": torch.float32, "BF16": torch.bfloat16, "I8": torch.int8, "U8": torch.uint8}


class LevelRows(nn.Module):
    """Rows whose weights are level * scale, levels being whole numbers in [-127, 127]."""

    levels: Tensor
    scale: Tensor

    def __init__(self, levels: Tensor, scale: Tensor) -> None:
        """Take levels as float32 [rows, columns] and scale, float32 [rows]."""
        super().__init__()
        self.register_buffer("levels", levels)
        self.register_buffer("scale", scale)

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        return self.levels * self.scale[:, None]

    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Quantized activations [.., columns], [..] -> [.., rows]."""
        return level_product(codes, activation_scale, self.levels, self.scale)


class AffineRows(nn.Module):
    """Rows whose weights are offset + level * scale."""

    levels: Tensor
    scale: Tensor
    offset: Tensor

    def __init__(self, levels: Tensor, scale: Tensor, offset: Tensor) -> None:
        """Take levels, whole numbers in [-128, 127], as float32 [rows, columns], scale and offset, float32 [rows]."""
        super().__init__()
        self.register_buffer("levels", levels)
        self.register_buffer("scale", scale)
        self.register_buffer("offset", offset)

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        return self.offset[:, None] + self.levels * self.scale[:, None]

    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Quantized activations [.., columns], [..] -> [.., rows]."""
        return affine_product(codes, activation_scale, self.levels, self.scale, self.offset)


class BinaryRows(nn.Module):
    """Rows whose weights are sums of one or two factors, each added or subtracted."""

    planes: Tensor
    alphas: Tensor

    def __init__(self, planes: Tensor, alphas: Tensor) -> None:
        """Take planes of 0 and 1 as float32 [rows, bits, columns] and alphas, float32 [rows, bits]."""
        super().__init__()
        self.register_buffer("planes", planes)
        self.register_buffer("alphas", alphas)

    def weight(self) -> Tensor:
        """Return float32 [rows, columns], the terms added in order."""
        terms = (2 * self.planes - 1) * self.alphas[..., None]
        return reduce(torch.add, terms.unbind(dim=1))

    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Quantized activations [.., columns], [..] -> [.., rows]."""
        return binary_product(codes, activation_scale, self.planes, self.alphas)


class QuantizedLinear(nn.Module):
    """A linear layer whose weight is row groups of integers, and whose input is quantized at run time."""

    order: Tensor | None
    bias: Tensor | None
    grid: Grid | None

    def __init__(
        self,
        groups: Sequence[nn.Module],
        order: Tensor | None,
        bias: Tensor | None,
        quantize: Callable[[Tensor], tuple[Tensor, Tensor]] = quantize_rows,
    ) -> None:
        """Take row groups, where in their concatenation each row lies, [rows] (None: in order), and bias [rows].

        `quantize` makes codes and scales of the input, as `quantize_rows` does.
        """
        super().__init__()
        self.groups = nn.ModuleList(groups)
        self.quantize = quantize
        self.register_buffer("order", order)
        self.register_buffer("bias", bias)
        self.grid = None

    def read_from(self, grid: Grid | None) -> None:
        """Take inputs by their own codes where they lie on a grid that all elements share.

        What the codes leave out goes to the bias: sum_j w_j (offset + code_j scale) is scale sum_j w_j code_j + offset
        sum_j w_j.
        """
        if grid is None or not grid.uniform:
            return
        self.grid = grid
        left_out = (self.weight().double().sum(dim=-1) * grid.offset.double()).float()
        self.bias = left_out if self.bias is None else self.bias + left_out

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        weight = torch.cat([group.weight() for group in self.groups])  # type: ignore[operator]
        return weight if self.order is None else weight[self.order]

    def forward(self, x: Tensor) -> Tensor:
        """[.., inputs] -> [.., outputs]."""
        if self.grid is None:
            codes, scale = self.quantize(x)
        else:
            codes, scale = self.grid.codes(x).to(torch.int8), self.grid.scale.expand(x.shape[:-1])
        product = torch.cat([group(codes, scale) for group in self.groups], dim=-1)
        if self.order is not None:
            product = product[..., self.order]
        return product if self.bias is None else product + self.bias


def load_reference(path: str | os.PathLike[str]) -> TranslationNetwork:
    """Load a model file as a PyTorch model in evaluation mode.

    Weights, biases and norms are decoded from their codes. Every product with a quantized matrix, the output
    projection among them, quantizes its activations, per row or as the file's "products" say, and adds exactly, as the
    engine does. Activations that the file quantizes within trained ranges lie on their grids, and meet each other and
    weights in exact sums. The rest is plain float32.

    Raises:
        ModelFileError: as `open_model` does.
    """
    with open_model(path) as file:
        linears = {
            name: QuantizedLinear(*_row_groups(file, name), None, _quantizer(file, name)) for name in file.matrices
        }
        decoded = {name: linear.weight() for name, linear in linears.items()}
        for stack, vectors in file.stacks.items():
            del linears[stack]
            decoded |= zip(vectors, decoded.pop(stack), strict=True)
        model = make_network(file.architecture)
        model.load_state_dict(
            {name: decoded[name] if name in decoded else _tensor(file, name) for name in model.state_dict()}
        )
        grids = Grids(file)
    inputs = input_grids(model, grids) if isinstance(model, Transformer) else {}
    for name, linear in linears.items():
        module = name.removesuffix(".weight")
        if module == "embedding":
            linear.read_from(inputs.get(module))
            model.projection = linear
            continue
        parent, _, attribute = module.rpartition(".")
        bias = model.get_submodule(module).bias
        assert bias is None or isinstance(bias, Tensor)
        linear.bias = bias if bias is None else bias.detach()
        linear.read_from(inputs.get(module))
        setattr(model.get_submodule(parent), attribute, linear)
    if isinstance(model, Transformer):
        put_grids(model, grids)
    return model.eval().requires_grad_(False)


def _quantizer(file: ModelFile, matrix: str) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """Return what quantizes the activations that meet a matrix."""
    if isinstance(file.products, Products):
        return LogarithmicActivations(file.products.bits, file.products.scale).quantize_rows
    if isinstance(file.products, StaticProducts) and matrix not in file.stacks:
        return partial(StaticActivations().quantize_rows, scale=_tensor(file, activation_scale_name(matrix)))
    return quantize_rows


def _row_groups(file: ModelFile, name: str) -> tuple[list[nn.Module], Tensor | None]:
    """Return a quantized matrix's row groups, and where each row lies in their concatenation; None: in order."""
    groups = [_rows(file, f"{name}.{index}", group) for index, group in enumerate(file.matrices[name])]
    indices = file.group_of_row(name)
    if indices is None:
        return groups, None
    concatenated = torch.tensor(list(indices)).argsort(stable=True)  # rows keep their order in a group
    return groups, concatenated.argsort()


def _binary_rows(planes: Tensor, alphas: Tensor) -> nn.Module:
    """Return rows of planes [rows, bits, columns]: beyond 2 bits their sums are levels of a table for each row."""
    if planes.shape[1] <= PLANE_BITS:
        return BinaryRows(planes, alphas)
    return LevelRows(*coded_levels(planes, alphas))


def _rows(file: ModelFile, name: str, group: RowGroup) -> nn.Module:
    if group.scheme == "binary":
        planes = unpack_codes(_tensor(file, f"{name}.planes").numpy(), group.columns, 1)
        return _binary_rows(torch.from_numpy(planes).float(), _tensor(file, f"{name}.alphas").float())
    codes = _tensor(file, f"{name}.codes")
    if codes.dtype == torch.uint8:
        codes = torch.from_numpy(unpack_codes(codes.numpy(), group.columns, group.bits))
    scale = _tensor(file, f"{name}.scale").float().expand(group.rows)
    if group.scheme == "affine":
        minimum = _tensor(file, f"{name}.minimum").float().expand(group.rows)
        middle = 2 ** (group.bits - 1)  # code 0 is then -middle, which fits int8
        return AffineRows(codes.float() - middle, scale, minimum + middle * scale)
    if group.scheme == "uniform":
        return LevelRows(codes.float(), scale)
    stored = _tensor(file, f"{name}.levels") if group.levels is None else torch.tensor(group.levels)
    return LevelRows(stored.float()[codes.long()], scale)


def _tensor(file: ModelFile, name: str) -> Tensor:
    """Return a copy of a stored tensor in its own dtype."""
    dtype, shape = file.form(name)
    return torch.frombuffer(bytearray(file.data(name)), dtype=_TORCH_TYPES[dtype]).view(shape)
