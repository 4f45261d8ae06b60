"""A quantized matrix as the model file holds it: the manifest's row groups, and tensors in the file's dtypes."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.bit_packing import pack_codes
from pocketmt.model_file.layout import MAXIMUM_GROUPED, group_index_bits, scheme_from_json
from pocketmt.model_file.layout import RowGroup as StoredGroup
from pocketmt.model_file.writer import StoredTensor
from pocketmt.quantization import Scheme
from pocketmt.recipes.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup

CODES = ("codes", "planes")  # all other tensors of a group are parameters


def encode_matrix(
    name: str, weight: Tensor, groups: Sequence[RowGroup], quantized: QuantizedMatrix | None = None
) -> tuple[list[tuple[dict[str, object], int]], dict[str, StoredTensor]]:
    """Encode a matrix.

    Args:
        name: of the matrix, for the tensors' names.
        weight: float32 [rows, columns].
        groups: of its rows, as `check_groups` asks.
        quantized: codes and parameters of each group that are there already, as training used them; else each scheme
            fits and assigns.

    Returns:
        Each group's manifest entry and row count; tensors by name.

    Raises:
        ModelFileError: where given parameters are not such as the file can hold.
    """
    described = []
    tensors: dict[str, StoredTensor] = {}
    for index, group in enumerate(groups):
        rows = group.of(weight)
        chosen = _quantize(group.scheme, rows) if quantized is None else quantized[index]
        described.append((group.scheme.description(), len(rows)))
        tensors |= _encode(f"{name}.{index}", rows, group.scheme, chosen)
    if not _consecutive(groups):
        tensors[f"{name}.groups"] = _group_indices(groups)
    return described, tensors


def stored_groups(described: Sequence[tuple[dict[str, object], int]], columns: int) -> list[StoredGroup]:
    """Return the file's view of the row groups that `encode_matrix` described, of a matrix of so many columns."""
    schemes = [(scheme_from_json(entry, "scheme"), rows) for entry, rows in described]
    return [
        StoredGroup(scheme.name, scheme.bits, scheme.granularity, scheme.levels, rows, columns)
        for scheme, rows in schemes
    ]


def check_groups(name: str, rows: int, groups: Sequence[RowGroup]) -> None:
    """Raise ConfigurationError unless the groups hold each of a matrix's rows once, each group's in ascending order."""
    if not groups or (len(groups) > 1 and any(group.rows is None for group in groups)):
        raise ConfigurationError(f"{name}: several row groups each need to say their rows")
    together = [row for group in groups for row in (range(rows) if group.rows is None else group.rows)]
    if sorted(together) != list(range(rows)):
        raise ConfigurationError(f"{name}: its row groups must hold each of its {rows} rows once")
    if any(not group.rows or list(group.rows) != sorted(group.rows) for group in groups if group.rows is not None):
        raise ConfigurationError(f"{name}: the rows of a row group must be in ascending order, and at least one")
    if len(groups) > MAXIMUM_GROUPED and not _consecutive(groups):
        raise ConfigurationError(f"{name}: {len(groups)} row groups; at most {MAXIMUM_GROUPED} can be no runs of rows")


def stored_tensor(tensor: Tensor, dtype: str) -> StoredTensor:
    """Return a tensor's little-endian bytes in a dtype of the file, in which it must be without rounding."""
    if dtype == "BF16":
        array = tensor.to(torch.bfloat16).view(torch.int16).numpy().astype("<i2")
    elif dtype == "F32":
        array = tensor.numpy().astype("<f4")
    else:
        array = tensor.numpy().astype("i1" if dtype == "I8" else "u1")
    return StoredTensor(dtype, tuple(tensor.shape), np.ascontiguousarray(array).tobytes())


def _quantize(scheme: Scheme, weight: Tensor) -> QuantizedGroup:
    parameters = scheme.fit(weight)
    return QuantizedGroup(scheme.assign(weight, parameters), parameters)


def _encode(prefix: str, weight: Tensor, scheme: Scheme, chosen: QuantizedGroup) -> dict[str, StoredTensor]:
    forms = scheme_from_json(scheme.description(), "scheme").tensors(*weight.shape)
    tensors = {}
    for suffix, (dtype, shape) in forms.items():
        if suffix in CODES:
            stored = _stored_codes(chosen.codes.cpu(), dtype, scheme.bits if suffix == "codes" else 1)
        else:
            parameter = chosen.parameters[suffix].detach().to("cpu", torch.float32)
            if not torch.equal(_as_stored(parameter, dtype), parameter):
                raise ModelFileError(
                    f"{prefix}.{suffix} holds values that {dtype} does not have: give what the scheme's fit returns"
                )
            stored = stored_tensor(parameter, dtype)
        if stored.shape != shape:
            raise ModelFileError(
                f"{prefix}.{suffix} has shape {list(stored.shape)} in the file, expected {list(shape)}"
            )
        tensors[f"{prefix}.{suffix}"] = stored
    return tensors


def _stored_codes(codes: Tensor, dtype: str, bits: int) -> StoredTensor:
    return stored_tensor(codes, dtype) if dtype == "I8" else _packed(codes, bits)


def _packed(codes: Tensor, bits: int) -> StoredTensor:
    packed = pack_codes(codes.numpy(), bits)
    return StoredTensor("U8", packed.shape, packed.tobytes())


def _as_stored(parameter: Tensor, dtype: str) -> Tensor:
    if dtype == "BF16":
        return parameter.to(torch.bfloat16).float()
    return parameter.clamp(-127, 127).round() if dtype == "I8" else parameter


def _consecutive(groups: Sequence[RowGroup]) -> bool:
    rows = [row for group in groups for row in group.rows or ()]
    return rows == list(range(len(rows)))


def _group_indices(groups: Sequence[RowGroup]) -> StoredTensor:
    indices = torch.zeros(1, sum(len(group.rows or ()) for group in groups), dtype=torch.uint8)
    for index, group in enumerate(groups):
        indices[0, list(group.rows or ())] = index
    return _packed(indices, group_index_bits(len(groups)))
