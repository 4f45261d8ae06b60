"""A small model file of every stored scheme, with rows of one matrix in groups that are no runs of rows."""

import tempfile
from pathlib import Path
from typing import Any

from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.matrices.stored_forms import STORED_FORMS
from pocketmt.model_file.writer import StoredTensor, write_model
from tests.model_file import sample

PAIRS = ("row", "matrix")


def _entries(name: str, widths: tuple[int, ...], granularities: tuple[str, ...]) -> list[dict[str, object]]:
    return [{"name": name, "bits": bits, "granularity": each} for bits in widths for each in granularities]


SCHEMES: list[dict[str, object]] = [
    *_entries("affine", (4, 6, 8), PAIRS),
    *(
        {**entry, "levels": sample.LEVELS[: 2 ** int(str(entry["bits"]))]}
        for entry in _entries("logarithmic", (1, 2, 3), PAIRS)
    ),
    *_entries("codebook", (1, 2, 3, 4, 8), ("matrix",)),
    *_entries("binary", (1, 2, 3, 4), ("row",)),
    *_entries("uniform", (8,), ("matrix",)),
    {"name": "uniform", "bits": 8, "granularity": "row", "scales": "F32"},
]
AFFINE, LOGARITHMIC, CODEBOOK, BINARY, UNIFORM = 0, 6, 12, 17, 21  # where each scheme's entries begin
EMBEDDING = "embedding.weight"
WIDE = "encoder.layers.0.self_attention.query_key_value.weight"
OUTER = "encoder.layers.0.feed_forward.outer.weight"  # 7 columns: of every width but 8 bits are left over
INNER = "decoder.layers.0.feed_forward.inner.weight"
KEYS = "decoder.layers.0.cross_attention.key_value.weight"
MANIFEST: dict[str, object] = {
    **sample.MANIFEST,
    "schemes": SCHEMES,
    "matrices": {
        EMBEDDING: [[BINARY + 3, 2], [BINARY + 2, 3], [BINARY + 1, 2], [BINARY, 4]],
        WIDE: [[AFFINE, 10], [CODEBOOK + 2, 14]],
        OUTER: [[AFFINE + 2, 1], [AFFINE + 3, 1], [AFFINE + 4, 1], [AFFINE + 5, 1], [CODEBOOK + 4, 1], [CODEBOOK, 1]],
        INNER: [[LOGARITHMIC + index, 1] for index in range(6)] + [[CODEBOOK + 1, 1]],
        KEYS: [[AFFINE + 1, 3], [CODEBOOK + 3, 9], [UNIFORM, 2], [UNIFORM + 1, 2]],
    },
}
GROUP_OF_ROW = {EMBEDDING: bytes([3, 0, 2, 3, 1, 1, 3, 0, 2, 1, 3]), WIDE: bytes([1, 0, 0, 1, 1] * 4 + [0, 1, 1, 0])}


def row_group(name: str, bits: int, granularity: str, rows: int, columns: int) -> StoredRowGroup:
    """A row group of a form without levels."""
    return StoredRowGroup(STORED_FORMS[name](bits, granularity), rows, columns)


def tensors() -> dict[str, StoredTensor]:
    """Random values for every tensor, without a bit after the last code of a row."""
    stored = sample.tensors(MANIFEST)
    for name, groups in check_manifest(dict(MANIFEST)).matrices.items():
        for index, group in enumerate(groups):
            if group.form.name != "uniform":
                full = f"{name}.{index}.{group.form.code_tensor}"
                stored[full] = _cleared(stored[full], group.columns * group.form.packed_bits)
    stored[f"{EMBEDDING}.groups"] = StoredTensor(
        "U8", (1, 3), _number(GROUP_OF_ROW[EMBEDDING], 2).to_bytes(3, "little")
    )
    stored[f"{WIDE}.groups"] = StoredTensor("U8", (1, 3), _number(GROUP_OF_ROW[WIDE], 1).to_bytes(3, "little"))
    return stored


def write_sample(path: Path) -> bytes:
    """Write the sample and return its bytes."""
    write_model(path, MANIFEST, tensors(), sample.VOCABULARY)
    return path.read_bytes()


def build() -> bytes:
    """The sample's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        return write_sample(Path(folder) / "sample.pocketmt")


def changed(file: bytes, tensor: str, at: int, value: bytes) -> bytes:
    """The file with other bytes from position `at` of a tensor on, and a digest that fits."""
    header: Any
    header, data = sample.split(file)
    begin = len(file) - len(data) + header[tensor]["data_offsets"][0] + at
    return sample.sealed(file[:begin] + value + file[begin + len(value) :])


def _cleared(tensor: StoredTensor, used_bits: int) -> StoredTensor:
    width = tensor.shape[-1]
    rows = [tensor.data[begin : begin + width] for begin in range(0, len(tensor.data), width)]
    mask = (1 << used_bits) - 1
    data = b"".join((int.from_bytes(row, "little") & mask).to_bytes(width, "little") for row in rows)
    return StoredTensor(tensor.dtype, tensor.shape, data)


def _number(indices: bytes, bits: int) -> int:
    return sum(index << row * bits for row, index in enumerate(indices))
