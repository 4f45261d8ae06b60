"""Quantized matrices that are encoded block by block of rows, into a temporary file until the model file is written."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, Final

from torch import Tensor

from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.matrices.stored_forms import form_from_json
from pocketmt.model_file.writer import FileTensor, StreamedTensor
from pocketmt.packing.encoding import EncodedParameter, encode_matrix, group_indices
from pocketmt.quantization.row_groups import QuantizedGroup, RowGroup, are_consecutive

COPY_BYTES: Final = 1 << 20


class SpooledMatrix:
    """A quantized matrix that is encoded block by block, row group after row group."""

    def __init__(self, name: str, shape: tuple[int, int], groups: Sequence[RowGroup], file: IO[bytes]) -> None:
        """Begin a matrix.

        Args:
            name: of the matrix, for the names of tensors.
            shape: [rows, columns].
            groups: its row groups.
            file: to which the blocks are appended; it must stay open until the model file is written.
        """
        self._name, self._groups, self._file = name, groups, file
        self._stored = [
            StoredRowGroup(
                form_from_json(group.scheme.stored_form(), "scheme"),
                shape[0] if group.rows is None else len(group.rows),
                shape[1],
            )
            for group in groups
        ]
        self._places: dict[str, list[tuple[int, int]]] = {}

    def add(self, index: int, weight: Tensor, quantized: QuantizedGroup) -> None:
        """Append the next rows of a row group.

        Args:
            index: of the row group.
            weight: the rows, float32 [rows, columns].
            quantized: codes and parameters of the rows; parameters of a whole matrix are the same in each call.

        Raises ModelFileError as `encode_matrix` does.
        """
        scheme, form = self._groups[index].scheme, self._stored[index].form
        encoded = encode_matrix("", weight, (RowGroup(scheme),), [quantized])
        for suffix in self._stored[index].tensors():
            key = f"{self._name}.{index}.{suffix}"
            if suffix != form.code_tensor and scheme.granularity == "matrix" and key in self._places:
                continue
            offset = self._file.tell()
            size = sum(self._file.write(block) for block in encoded.tensors[f".0.{suffix}"].blocks())
            self._places.setdefault(key, []).append((offset, size))

    def encoded(self) -> EncodedParameter:
        """Return the whole matrix, whose tensors are read from the file when they are written."""
        tensors: dict[str, FileTensor] = {}
        for index, group in enumerate(self._stored):
            for suffix, (dtype, shape) in group.tensors().items():
                key = f"{self._name}.{index}.{suffix}"
                tensors[key] = StreamedTensor(dtype, shape, partial(self._read, key))
        if not are_consecutive(self._groups):
            tensors[f"{self._name}.groups"] = group_indices(self._groups)
        return EncodedParameter(tensors, tuple(self._stored))

    def _read(self, key: str) -> Iterator[bytes]:
        for offset, size in self._places[key]:
            self._file.seek(offset)
            for start in range(0, size, COPY_BYTES):
                yield self._file.read(min(COPY_BYTES, size - start))
