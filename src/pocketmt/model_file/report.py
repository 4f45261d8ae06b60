"""What `pocketmt inspect` shows: each matrix's shape, scheme, bits and bytes, and totals against fp32."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pocketmt.model_file.activations import StoredActivations, ranges_name
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.entropy_coding import CODED, coded_name
from pocketmt.model_file.layout import RowGroup
from pocketmt.model_file.manifest import VOCABULARY_TENSOR
from pocketmt.model_file.products import Products, StaticProducts
from pocketmt.model_file.reader import ModelFile, open_model
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR
from pocketmt.model_file.sparse import kept_name, weights_name

FLOAT32_BYTES = 4


@dataclass(frozen=True, slots=True)
class MatrixReport:
    """One matrix.

    Attributes:
        shape: [outputs, inputs].
        scheme: in words, of each row group.
        code_bits: of a weight's code, averaged over the rows of all groups.
        bits: of a weight with all that decoding it needs: scales, codebooks, which rows are in which group.
        bytes: the same in all.
    """

    name: str
    shape: tuple[int, ...]
    scheme: str
    code_bits: float
    bits: float
    bytes: int

    @property
    def smaller(self) -> float:
        """How many times smaller than in fp32, parameters of the scheme counted ([Z6], paper Z, eq. 3)."""
        return 8 * FLOAT32_BYTES / self.bits


@dataclass(frozen=True, slots=True)
class ModelReport:
    """A model file in numbers; all sizes in bytes, and every byte of the file in one of them.

    Attributes:
        products: how activations that meet quantized matrices are quantized; None: 8 bits, a scale a row.
        matrices: in the order of the network.
        stacks: of biases and norms that are quantized; rows are vectors.
        activations: which operations are quantized within trained ranges, in words; empty: none.
        vector_bytes: biases and norms, in fp32 or in stacks.
        range_bytes: ranges of activations, in fp32.
        shortlist: how many pieces it has, in words; empty: there is none.
        shortlist_bytes: the compressed shortlist.
        vocabulary_bytes: the compressed SentencePiece model.
        container_bytes: header, manifest and padding.
        compressed_bytes: by how many a file that is compressed as a whole is smaller, in all its parts.
        file_bytes: the sum of all, without these.
        parameters: their count.
        float32_bytes: what the parameters alone would take in fp32.
    """

    path: str
    architecture: Architecture
    source_language: str
    target_language: str
    description: str
    licence: str
    producer: str
    products: Products | StaticProducts | None
    matrices: tuple[MatrixReport, ...]
    stacks: tuple[MatrixReport, ...]
    activations: str
    vector_bytes: int
    range_bytes: int
    shortlist: str
    shortlist_bytes: int
    vocabulary_bytes: int
    container_bytes: int
    compressed_bytes: int
    file_bytes: int
    parameters: int
    float32_bytes: int

    @property
    def matrix_bytes(self) -> int:
        """Bytes of all matrices, codes and scales."""
        return sum(matrix.bytes for matrix in self.matrices)

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters: matrices, biases and norms."""
        return self.matrix_bytes + self.vector_bytes

    @property
    def float32_file_bytes(self) -> int:
        """Bytes of the same file, had it fp32 parameters and were not compressed as a whole."""
        return self.file_bytes + self.compressed_bytes - self.parameter_bytes + self.float32_bytes

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        totals = {
            "matrix_bytes": self.matrix_bytes,
            "parameter_bytes": self.parameter_bytes,
            "float32_file_bytes": self.float32_file_bytes,
        }
        return json.dumps(asdict(self) | totals, indent=2)

    def to_text(self) -> str:
        """Return the report as plain text, a line a matrix."""
        return "\n".join([*self._heading(), "", *self._matrix_table(), "", *self._totals()])

    def _heading(self) -> list[str]:
        sizes = self.architecture.to_json()
        facts = [
            ("file", self.path),
            ("languages", f"{self.source_language} to {self.target_language}"),
            ("description", self.description),
            ("licence", self.licence),
            ("producer", self.producer),
            ("architecture", ", ".join(f"{name} {value}" for name, value in sizes.items() if name != "type")),
            ("products", "" if self.products is None else str(self.products)),
            ("activations", self.activations),
            ("shortlist", self.shortlist),
        ]
        return [f"{name + ':':<14}{printable(text)}" for name, text in facts if text]

    def _matrix_table(self) -> list[str]:
        rows = [("matrix", "shape", "scheme", "bits", "with scales", "smaller", "bytes")]
        for matrix in (*self.matrices, *self.stacks):
            shape = " x ".join(map(str, matrix.shape))
            numbers = (f"{matrix.code_bits:.2f}", f"{matrix.bits:.2f}", f"{matrix.smaller:.2f}x", f"{matrix.bytes:,}")
            rows.append((matrix.name, shape, matrix.scheme, *numbers))
        return _aligned(rows, "<><>>>>")

    def _totals(self) -> list[str]:
        matrices = FLOAT32_BYTES * sum(math.prod(matrix.shape) for matrix in self.matrices)
        rows = [("", "bytes", "in fp32", "smaller")]
        for name, stored, single in (
            ("matrices", self.matrix_bytes, matrices),
            ("biases and norms", self.vector_bytes, self.float32_bytes - matrices),
            ("ranges", self.range_bytes, self.range_bytes),
            ("shortlist", self.shortlist_bytes, self.shortlist_bytes),
            ("vocabulary", self.vocabulary_bytes, self.vocabulary_bytes),
            ("header and padding", self.container_bytes, self.container_bytes),
            ("file", self.file_bytes, self.float32_file_bytes),
        ):
            if stored:
                rows.append((name, f"{stored:,}", f"{single:,}", f"{single / stored:.2f}x"))
        if self.compressed_bytes:
            rows.insert(-1, ("compressed by", f"{-self.compressed_bytes:,}", "0", ""))
        return [*_aligned(rows, "<>>>"), f"{self.parameters:,} parameters"]


def inspect_model(path: str | os.PathLike[str]) -> ModelReport:
    """Open a model file, with all checks, and report on it; raises ModelFileError as `open_model` does."""
    with open_model(path) as file:
        return _report(str(os.fspath(path)), file)


def printable(text: str) -> str:
    """Escape what could move a terminal's cursor; a file's own words are shown, never obeyed."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def _report(path: str, file: ModelFile) -> ModelReport:
    shapes = file.architecture.parameter_shapes()
    matrices = tuple(_matrix(file, name, shape) for name, shape in shapes.items() if len(shape) == 2)
    parameters = sum(math.prod(shape) for shape in shapes.values())
    vocabulary_bytes = file.tensors[VOCABULARY_TENSOR].size
    stacks = tuple(_matrix(file, name, (len(vectors), *shapes[vectors[0]])) for name, vectors in file.stacks.items())
    plain = (name for name, shape in shapes.items() if len(shape) == 1 and name in file.tensors)
    vector_bytes = sum(file.tensors[name].size for name in plain) + sum(stack.bytes for stack in stacks)
    stored = sum(entry.size for entry in file.tensors.values())
    return ModelReport(
        path=path,
        architecture=file.architecture,
        source_language=file.source_language,
        target_language=file.target_language,
        description=str(file.manifest["description"]),
        licence=str(file.manifest["licence"]),
        producer=str(file.manifest["producer"]),
        products=file.products,
        matrices=matrices,
        stacks=stacks,
        activations=_activations(file.activations),
        vector_bytes=vector_bytes,
        range_bytes=_range_bytes(file),
        shortlist=_shortlist(file),
        shortlist_bytes=file.tensors[SHORTLIST_TENSOR].size if SHORTLIST_TENSOR in file.tensors else 0,
        vocabulary_bytes=vocabulary_bytes,
        container_bytes=len(file.buffer) - stored,
        compressed_bytes=len(file.buffer) - file.file_bytes,
        file_bytes=file.file_bytes,
        parameters=parameters,
        float32_bytes=FLOAT32_BYTES * parameters,
    )


def _matrix(file: ModelFile, name: str, shape: tuple[int, ...]) -> MatrixReport:
    groups = file.matrices.get(name)
    if name in file.sparse:
        kept, weights = file.tensors[kept_name(name)], file.tensors[weights_name(name)]
        size = kept.size + weights.size
        zeros = 1 - weights.shape[0] / math.prod(shape)
        return MatrixReport(
            name, shape, f"float32, {zeros:.1%} zero", 8 * FLOAT32_BYTES, 8 * size / math.prod(shape), size
        )
    if groups is None:
        size = file.tensors[name].size
        return MatrixReport(name, shape, "float32", 8 * FLOAT32_BYTES, 8 * FLOAT32_BYTES, size)
    scheme = " + ".join(_scheme(group, len(groups)) for group in groups)
    if any(f"{name}.{index}.{suffix}" in file.coded for index in range(len(groups)) for suffix in CODED):
        scheme += ", entropy-coded"
    names = [f"{name}.{index}.{suffix}" for index, group in enumerate(groups) for suffix in group.tensors()]
    held = [coded_name(tensor) if tensor in file.coded else tensor for tensor in names]
    size = sum(file.tensors[tensor].size for tensor in (*held, f"{name}.groups") if tensor in file.tensors)
    code_bits = sum(group.bits * group.rows for group in groups) / shape[0]
    title = f"{name} ({file.stacks[name][0]}, ..)" if name in file.stacks else name
    return MatrixReport(title, shape, scheme, code_bits, 8 * size / math.prod(shape), size)


def _activations(activations: StoredActivations | None) -> str:
    if activations is None:
        return ""
    shown = [f"{name} by element" if name in activations.bucketed else name for name in activations.operations]
    return f"{activations.bits} bit within trained ranges: {', '.join(shown)}"


def _shortlist(file: ModelFile) -> str:
    content, stored = file.shortlist(), file.stored_shortlist
    if content is None or stored is None:
        return ""
    targets = sum(content[: file.architecture.vocabulary_size])
    return f"{stored.frequent:,} pieces for every sentence, {targets:,} targets of source pieces"


def _range_bytes(file: ModelFile) -> int:
    operations = () if file.activations is None else file.activations.operations
    return sum(file.tensors[ranges_name(operation)].size for operation in operations)


def _scheme(group: RowGroup, groups: int) -> str:
    rows = f"{group.rows} rows of " if groups > 1 else ""
    return f"{rows}{group.scheme} {group.bits} bit per {group.granularity}"


def _aligned(rows: Sequence[tuple[str, ...]], alignments: str) -> list[str]:
    """Lay rows out in columns; an alignment a column, "<" or ">"."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, alignments, widths, strict=True)).rstrip()
        for row in rows
    ]
