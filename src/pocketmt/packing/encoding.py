"""Encoding of parameters for the model file: codes and parameters in its dtypes, entropy-coded or sparse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from pocketmt.errors import ModelFileError
from pocketmt.model_file.matrices.bit_packing import pack_codes
from pocketmt.model_file.matrices.row_groups import StoredRowGroup, group_index_bits
from pocketmt.model_file.matrices.sparse import kept_name, weights_name
from pocketmt.model_file.matrices.stored_forms import form_from_json
from pocketmt.model_file.writer import FileTensor, StoredTensor
from pocketmt.packing.entropy_coding import entropy_code
from pocketmt.quantization.row_groups import QuantizedGroup, QuantizedMatrix, RowGroup, are_consecutive, quantize

_NUMPY_TYPES: Final = {"BF16": "<i2", "F32": "<f4", "I8": "i1", "U8": "u1"}


@dataclass(frozen=True)
class EncodedParameter:
    """A parameter in the file."""

    tensors: Mapping[str, FileTensor]  # by name, in file order
    groups: tuple[StoredRowGroup, ...] = ()  # of a quantized matrix; empty for a parameter in fp32
    entropy_coded: bool = False  # whether entropy coding of its codes was tried
    sparse: bool = False  # whether its zeros are omitted


def encode_matrix(
    name: str,
    weight: Tensor,
    groups: Sequence[RowGroup],
    quantized: QuantizedMatrix | None = None,
    entropy_coding: bool = False,
) -> EncodedParameter:
    """Encode a quantized matrix.

    Args:
        name: of the matrix, for the names of tensors.
        weight: float32 [rows, columns].
        groups: its row groups, checked by `check_groups`.
        quantized: codes and parameters of each group, as training used them; None: the schemes quantize the weight.
        entropy_coding: entropy-code the codes; they are in any case if a scheme asks for it.

    Raises:
        ModelFileError: the file cannot hold the given parameters exactly, or they have another shape.
    """
    entropy_coded = entropy_coding or any(group.scheme.entropy_coded for group in groups)
    tensors: dict[str, StoredTensor] = {}
    stored: list[StoredRowGroup] = []
    chosen = quantize(groups, weight) if quantized is None else quantized
    for index, (group, each) in enumerate(zip(groups, chosen, strict=True)):
        rows = weight.shape[0] if group.rows is None else len(group.rows)
        stored.append(StoredRowGroup(form_from_json(group.scheme.stored_form(), "scheme"), rows, weight.shape[1]))
        tensors |= _encode_group(f"{name}.{index}", stored[-1], each, entropy_coded)
    if not are_consecutive(groups):
        tensors[f"{name}.groups"] = group_indices(groups)
    return EncodedParameter(tensors, tuple(stored), entropy_coded)


def encode_float32(name: str, weight: Tensor) -> EncodedParameter:
    """Encode a parameter in fp32, float32 on the CPU; a matrix is stored without its zeros if that is smaller."""
    zeros = int((weight == 0).sum())
    # A bit for each weight must cost less than the zeros, and at least one weight must be kept.
    if weight.dim() != 2 or not 32 * zeros > weight.numel() > zeros:
        return EncodedParameter({name: stored_tensor(weight, "F32")})
    kept = weight != 0
    tensors = {
        kept_name(name): _packed_tensor(kept.byte(), "U8", 1),
        weights_name(name): stored_tensor(weight[kept], "F32"),
    }
    return EncodedParameter(tensors, sparse=True)


def stored_tensor(tensor: Tensor, dtype: str) -> StoredTensor:
    """Return the little-endian bytes of a CPU tensor in a dtype of the file that represents its values exactly."""
    numbers = tensor.to(torch.bfloat16).view(torch.int16) if dtype == "BF16" else tensor
    array = numbers.numpy().astype(_NUMPY_TYPES[dtype])
    return StoredTensor(dtype, tuple(tensor.shape), np.ascontiguousarray(array).tobytes())


def _encode_group(
    prefix: str, group: StoredRowGroup, chosen: QuantizedGroup, entropy_coded: bool
) -> dict[str, StoredTensor]:
    tensors = {}
    for suffix, (dtype, shape) in group.tensors().items():
        name = f"{prefix}.{suffix}"
        if suffix == group.form.code_tensor:
            tensor = _packed_tensor(chosen.codes.cpu(), dtype, group.form.packed_bits)
        else:
            tensor = _parameter(name, chosen.parameters[suffix].detach().to("cpu", torch.float32), dtype)
        if tensor.shape != shape:
            raise ModelFileError(f"{name} has shape {list(tensor.shape)} in the file, expected {list(shape)}")
        if entropy_coded and suffix == group.form.code_tensor:
            name, tensor = entropy_code(name, tensor, group)
        tensors[name] = tensor
    return tensors


def _parameter(name: str, parameter: Tensor, dtype: str) -> StoredTensor:
    rounded = parameter
    if dtype == "BF16":
        rounded = parameter.to(torch.bfloat16).float()
    elif dtype == "I8":
        rounded = parameter.clamp(-127, 127).round()
    if not torch.equal(rounded, parameter):
        raise ModelFileError(f"{name} holds values that {dtype} does not have: give what the scheme's fit returns")
    return stored_tensor(parameter, dtype)


def group_indices(groups: Sequence[RowGroup]) -> StoredTensor:
    """Return the index of each row's group, packed."""
    indices = torch.zeros(1, sum(len(group.rows or ()) for group in groups), dtype=torch.uint8)
    for index, group in enumerate(groups):
        indices[0, list(group.rows or ())] = index
    return _packed_tensor(indices, "U8", group_index_bits(len(groups)))


def _packed_tensor(codes: Tensor, dtype: str, bits: int) -> StoredTensor:
    """Return codes, int8 or uint8 [.., columns] on the CPU, packed in a number of bits each."""
    packed = pack_codes(codes.numpy().view(np.uint8), bits)
    return StoredTensor(dtype, packed.shape, packed.tobytes())
