"""Row groups of a quantized matrix: their stored forms, and the tensor that assigns rows to groups."""

from typing import Final, NamedTuple

from pocketmt.errors import ModelFileError
from pocketmt.model_file.matrices.packed_bits import packed_bytes, unpack_indices, unused_bits
from pocketmt.model_file.matrices.stored_form import StoredForm, TensorLayout

MAXIMUM_GROUPED: Final = 16  # row groups of a matrix whose rows are not consecutive


class StoredRowGroup(NamedTuple):
    """Rows of a matrix with one stored form: the next rows of the matrix, or those that `ModelFile.group_of_row` names.

    Attributes:
        form: of codes and parameters.
        rows: their number.
        columns: of the matrix.
    """

    form: StoredForm
    rows: int
    columns: int

    def tensors(self) -> dict[str, TensorLayout]:
        """Return dtype and shape of the group's tensors, by the last part of their names, in file order."""
        return self.form.tensors(self.rows, self.columns)

    def for_engine(self) -> tuple[str, int, str, tuple[int, ...], int]:
        """Return name, bits, granularity and levels of the form, and the rows, as the native module takes them."""
        return self.form.name, self.form.bits, self.form.granularity, self.form.levels, self.rows


def groups_layout(groups: int, rows: int) -> TensorLayout:
    """Return dtype and shape of the tensor with the group of each row, for 2 to 16 groups."""
    return "U8", (1, packed_bytes(rows, group_index_bits(groups)))


def group_index_bits(groups: int) -> int:
    """Return the bits of a group's index: 1, 2 or 4, the fewest that hold those of 2 to 16 groups."""
    return next(bits for bits in (1, 2, 4) if groups <= 2**bits)


def group_of_row(matrix: str, groups: tuple[StoredRowGroup, ...], content: memoryview) -> bytes:
    """Unpack and check the tensor "<matrix>.groups": one byte for each row, the index of its row group.

    Raises ModelFileError if groups do not have the numbers of rows that the manifest states.
    """
    bits = group_index_bits(len(groups))
    rows = sum(group.rows for group in groups)
    name = f"{matrix}.groups"
    if unused_bits(content, len(content), rows, bits):
        raise ModelFileError(f"tensor {name!r} has bits that are not 0 after its last row")
    indices = unpack_indices(bytes(content), rows, bits)
    for index, group in enumerate(groups):
        if (count := indices.count(index)) != group.rows:
            raise ModelFileError(
                f"tensor {name!r} puts {count} rows into row group {index}, which has {group.rows} in the manifest"
            )
    return indices
