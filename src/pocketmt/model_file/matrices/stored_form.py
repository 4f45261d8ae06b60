"""The contract of a stored form: how codes and parameters of a row group lie in a model file.

A new stored form takes four places: a class in `stored_forms.py`, its rows in `pocketmt.packing.reference.stored_rows`,
a function in `native/model/group_packing.cpp`, and the format specification (docs/reference/model-file.md and its
schema).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pocketmt.errors import ModelFileError
from pocketmt.model_file.matrices.packed_bits import pack_lanes, packed_bytes, stream_bits

TensorLayout = tuple[str, tuple[int, ...]]  # dtype and shape
COMMON_MEMBERS = ("name", "bits", "granularity")


@dataclass(frozen=True, slots=True)
class StoredForm:
    """A stored form with its bits and granularity: an entry of the manifest's member `schemes`.

    Attributes:
        bits: of one code.
        granularity: the weights that share parameters: a "row" or the whole "matrix" (here: the row group).
        name: in the manifest.
        allowed_bits: of a code.
        allowed_granularities: of the parameters.
        members: of the manifest's entry, in addition to name, bits and granularity.
        parameters: last parts of the names of the tensors with one value for each row, or one for the row group.
        code_tensor: last part of the name of the tensor with the codes.
        zero_padded: whether bits after the last code of a row must be 0.
    """

    bits: int
    granularity: str
    name: ClassVar[str]
    allowed_bits: ClassVar[tuple[int, ...]]
    allowed_granularities: ClassVar[tuple[str, ...]]
    members: ClassVar[tuple[str, ...]] = ()
    parameters: ClassVar[tuple[str, ...]] = ("scale",)
    code_tensor: ClassVar[str] = "codes"
    zero_padded: ClassVar[bool] = True

    @classmethod
    def from_json(cls, entry: Mapping[str, object], bits: int, granularity: str, where: str) -> Self:
        """Read an entry of the manifest with allowed bits and granularity; raises ModelFileError naming `where`."""
        for member in entry:
            if member not in (*COMMON_MEMBERS, *cls.members):
                raise ModelFileError(f"{where}: {cls.name} has no {member} in the manifest")
        return cls(bits, granularity)

    def to_json(self) -> dict[str, object]:
        """Return the entry of the manifest."""
        return {"name": self.name, "bits": self.bits, "granularity": self.granularity}

    def __str__(self) -> str:
        return f"{self.name} {self.bits} bit per {self.granularity}"

    @property
    def levels(self) -> tuple[int, ...]:
        """Lookup table in the manifest; empty: the manifest holds none."""
        return ()

    @property
    def packed_bits(self) -> int:
        """Bits of one element of the code tensor."""
        return self.bits

    def code_layout(self, rows: int, columns: int) -> TensorLayout:
        """Return dtype and shape of the code tensor of a row group."""
        return "U8", (rows, packed_bytes(columns, self.packed_bits))

    def parameter_layouts(self, rows: int) -> dict[str, TensorLayout]:
        """Return dtype and shape of the other tensors of a row group, by the last part of their names."""
        return dict.fromkeys(self.parameters, ("BF16", (rows,)) if self.granularity == "row" else ("F32", (1,)))

    def tensors(self, rows: int, columns: int) -> dict[str, TensorLayout]:
        """Return dtype and shape of all tensors of a row group, by the last part of their names, in file order."""
        return {self.code_tensor: self.code_layout(rows, columns), **self.parameter_layouts(rows)}

    @property
    def streams_unchanged(self) -> bool:
        """Whether an entropy-coded stream decodes to the bytes of the code tensor."""
        return stream_bits(self.bits) == self.packed_bits

    def codes_of_weights(self, elements: Any) -> Any:
        """Return the codes for an entropy-coded stream, [rows, columns], of an unpacked code tensor.

        Both are NumPy arrays of uint8; their type is not named here because the runtime has no NumPy.
        """
        return elements

    def pack_stream(self, lanes: list[bytes], columns: int) -> bytes:
        """Return rows of the code tensor from the codes of a stream (`split_lanes`), each row whole blocks of eight."""
        return pack_lanes(lanes, self.bits, columns)
