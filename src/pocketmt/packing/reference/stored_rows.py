"""Rows of quantized matrices from their stored forms, with the engine's integer products."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

import torch
from torch import Tensor, nn

from pocketmt.model_file import ModelFile, StoredRowGroup
from pocketmt.model_file.matrices.bit_packing import unpack_codes
from pocketmt.packing.reference.packed_numbers import PackedNumbers
from pocketmt.quantization.binary_code import PLANE_BITS, coded_levels
from pocketmt.quantization.integer_products import affine_product, binary_code_product, lookup_table_product

_TORCH_TYPES: Final = {"F32": torch.float32, "BF16": torch.bfloat16, "I8": torch.int8, "U8": torch.uint8}


class StoredRows(nn.Module, ABC):
    """Rows of weights in a stored form; its tensors are buffers."""

    def __init__(self, **tensors: Tensor) -> None:
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    @abstractmethod
    def store_packed(self) -> None:
        """Store whole numbers in few bits, see `PackedNumbers`, for a GPU; the products stay the same."""

    @abstractmethod
    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""

    @abstractmethod
    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Multiply with quantized activations: codes [.., columns], scale [..] -> [.., rows]."""


class LevelRows(StoredRows):
    """Rows of weights that are whole numbers, scaled."""

    _levels: Tensor  # float32 [rows, columns]
    _packed: PackedNumbers | None
    scale: Tensor  # float32 [rows]

    def __init__(self, *, levels: Tensor, **tensors: Tensor) -> None:
        """Take whole numbers in [-128, 127] as float32 [rows, columns], and other tensors."""
        super().__init__(_levels=levels, **tensors)
        self._packed = None

    def store_packed(self) -> None:
        """Store the levels in few bits."""
        self._packed = PackedNumbers(self._levels)
        del self._levels

    @property
    def levels(self) -> Tensor:
        """The whole numbers as float32, or int8 if they are stored in few bits [rows, columns]."""
        return self._levels if self._packed is None else self._packed.numbers()


class LookupTableRows(LevelRows):
    """Rows of weights level * scale, with levels in [-127, 127]."""

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        return self.levels * self.scale[:, None]

    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Return [.., rows]: see `lookup_table_product`."""
        return lookup_table_product(codes, activation_scale, self.levels, self.scale)


class AffineRows(LevelRows):
    """Rows of weights offset + level * scale."""

    offset: Tensor  # float32 [rows]

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        return self.offset[:, None] + self.levels * self.scale[:, None]

    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Return [.., rows]: see `affine_product`."""
        return affine_product(codes, activation_scale, self.levels, self.scale, self.offset)


class BinaryCodeRows(StoredRows):
    """Rows of weights that are sums of one or two factors, each added or subtracted."""

    _planes: Tensor  # 0 or 1 as float32 [bits, rows, columns]
    alphas: Tensor  # float32 [rows, bits]

    def __init__(self, planes: Tensor, alphas: Tensor) -> None:
        """Take planes, 0 or 1 as float32 [rows, bits, columns], and alphas, float32 [rows, bits]."""
        super().__init__(_planes=planes.transpose(0, 1).contiguous(), alphas=alphas)
        self._packed = nn.ModuleList()

    def store_packed(self) -> None:
        """Store the planes in bits."""
        self._packed = nn.ModuleList(map(PackedNumbers, self._planes))
        del self._planes

    @property
    def planes(self) -> Sequence[Tensor]:
        """The plane of each bit: 0 or 1 as float32, or int8 if they are stored in bits [rows, columns]."""
        packed: list[Tensor] = [each.numbers() for each in self._packed]  # type: ignore[operator]
        return packed or list(self._planes)

    def weight(self) -> Tensor:
        """Return float32 [rows, columns]."""
        terms = ((2 * plane - 1) * alpha[:, None] for plane, alpha in zip(self.planes, self.alphas.T, strict=True))
        total: Tensor = reduce(torch.add, terms)
        return total

    def forward(self, codes: Tensor, activation_scale: Tensor) -> Tensor:
        """Return [.., rows]: see `binary_code_product`."""
        return binary_code_product(codes, activation_scale, self.planes, self.alphas)


def stored_rows(file: ModelFile, name: str, group: StoredRowGroup) -> StoredRows:
    """Return the rows of a row group whose tensors have names that begin with "<matrix>.<index>"."""
    return _ROWS[group.form.name](file, name, group)


def read_tensor(file: ModelFile, name: str) -> Tensor:
    """Return a copy of a stored tensor in its dtype."""
    dtype, shape = file.layout(name)
    return torch.frombuffer(bytearray(file.data(name)), dtype=_TORCH_TYPES[dtype]).view(shape)


def _lookup_table_rows(file: ModelFile, name: str, group: StoredRowGroup) -> StoredRows:
    """Return rows with one scale each, or one for all, whose levels the form, the file or the codes themselves give."""
    scale = _per_row(file, f"{name}.scale", group)
    if group.form.name == "uniform":
        return LookupTableRows(levels=read_tensor(file, f"{name}.codes").float(), scale=scale)
    if group.form.name == "codebook":
        levels = read_tensor(file, f"{name}.levels").float()
    else:
        levels = torch.tensor(group.form.levels, dtype=torch.float32)
    return LookupTableRows(levels=levels[_unpacked(file, name, group).long()], scale=scale)


def _affine_rows(file: ModelFile, name: str, group: StoredRowGroup) -> StoredRows:
    scale, minimum = (_per_row(file, f"{name}.{suffix}", group) for suffix in ("scale", "minimum"))
    middle = 2 ** (group.form.bits - 1)  # codes minus the middle fit int8
    levels = _unpacked(file, name, group).float() - middle
    return AffineRows(levels=levels, scale=scale, offset=minimum + middle * scale)


def _binary_rows(file: ModelFile, name: str, group: StoredRowGroup) -> StoredRows:
    """Return the rows of binary codes; sums of more than 2 bits are levels of a lookup table for each row."""
    planes, alphas = _unpacked(file, name, group).float(), read_tensor(file, f"{name}.alphas").float()
    if group.form.bits <= PLANE_BITS:
        return BinaryCodeRows(planes=planes, alphas=alphas)
    levels, scale = coded_levels(planes, alphas)
    return LookupTableRows(levels=levels, scale=scale)


# By the name of the stored form.
_ROWS: Final[dict[str, Callable[[ModelFile, str, StoredRowGroup], StoredRows]]] = {
    **dict.fromkeys(("uniform", "logarithmic", "codebook"), _lookup_table_rows),
    "affine": _affine_rows,
    "binary": _binary_rows,
}


def _unpacked(file: ModelFile, name: str, group: StoredRowGroup) -> Tensor:
    """Return the unpacked code tensor of a row group, uint8."""
    packed = read_tensor(file, f"{name}.{group.form.code_tensor}").numpy()
    return torch.from_numpy(unpack_codes(packed, group.columns, group.form.packed_bits))


def _per_row(file: ModelFile, name: str, group: StoredRowGroup) -> Tensor:
    """Return a parameter of a row group as float32 [rows]."""
    return read_tensor(file, name).float().expand(group.rows)
