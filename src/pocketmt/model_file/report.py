"""The report of `pocketmt inspect`: shape, scheme, bits and bytes of each matrix, and totals compared with fp32."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from pocketmt.model_file.activations.activation_quantization import (
    StoredActivationQuantization,
    StoredStaticActivations,
    activation_scale_name,
)
from pocketmt.model_file.activations.activation_ranges import StoredActivationRanges, ranges_name
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.known_words import KNOWN_WORDS
from pocketmt.model_file.matrices.entropy_coding import coded_name
from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.matrices.sparse import kept_name, weights_name
from pocketmt.model_file.reader import ModelFile, open_model
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR

FLOAT32_BYTES = 4
# Scores in the manifest, and their names in the report.
_SCORES: Final = {"validation_bleu": "validation BLEU", "validation_loss": "validation loss"}
_COMPRESSION_SCORES: Final = {
    "bleu": "validation BLEU",
    "agreement_bleu": "BLEU against the uncompressed model's translations",
    "loss": "validation loss",
}
TOKENIZATION: Final = "bleu_tokenization"  # beside the scores, where BLEU does not count words


@dataclass(frozen=True, slots=True)
class MatrixReport:
    """One matrix.

    Attributes:
        shape: [outputs, inputs].
        scheme: stored form of each row group, in words.
        code_bits: of the code of a weight, averaged over the rows of all groups.
        bits: of a weight, including scales, codebooks and the groups of rows.
        bytes: of all weights, including the same.
    """

    name: str
    shape: tuple[int, ...]
    scheme: str
    code_bits: float
    bits: float
    bytes: int

    @property
    def smaller(self) -> float:
        """Compression ratio against fp32, including the parameters of the scheme (Cheong and Daniel 2019, eq. 3)."""
        return 8 * FLOAT32_BYTES / self.bits


@dataclass(frozen=True, slots=True)
class ModelReport:
    """Sizes of a model file in bytes; every byte of the file is counted once.

    Attributes:
        source_languages, target_languages: codes to choose from; empty: there is one language.
        unit: what the model translates at once: "sentence", "line" or "document".
        recipe: by which the model was compressed, as in the manifest; empty if unknown.
        training: facts about the training and its scores, as in the manifest; empty if unknown.
        activation_quantization: of the inputs of quantized matrices; None: dynamic, 8 bits with a scale for each row.
        matrices: in the order of the network.
        vector_groups: quantized biases and norms; the rows are vectors.
        activation_ranges: operations that are quantized within trained ranges, in words; empty: none.
        vector_bytes: biases and norms, in fp32 or quantized.
        range_bytes: ranges of activations and calibrated scales of matrix inputs, in fp32.
        shortlist: number of its pieces, in words; empty: the file has none.
        shortlist_bytes: the compressed shortlist.
        known_words_bytes: the words that the model translates.
        vocabulary_bytes: the compressed SentencePiece models and id tables.
        container_bytes: header, manifest and padding.
        compressed_bytes: bytes saved by compression of the whole file.
        file_bytes: the sum of all other sizes, minus compressed_bytes.
        parameters: their number.
        float32_bytes: of the parameters in fp32.
    """

    path: str
    architecture: Architecture
    source_language: str
    target_language: str
    source_languages: tuple[str, ...]
    target_languages: tuple[str, ...]
    unit: str
    description: str
    licence: str
    producer: str
    recipe: dict[str, object]
    training: dict[str, object]
    activation_quantization: StoredActivationQuantization | None
    matrices: tuple[MatrixReport, ...]
    vector_groups: tuple[MatrixReport, ...]
    activation_ranges: str
    vector_bytes: int
    range_bytes: int
    shortlist: str
    shortlist_bytes: int
    known_words_bytes: int
    vocabulary_bytes: int
    container_bytes: int
    compressed_bytes: int
    file_bytes: int
    parameters: int
    float32_bytes: int

    @property
    def matrix_bytes(self) -> int:
        """Bytes of all matrices with their scales."""
        return sum(matrix.bytes for matrix in self.matrices)

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters: matrices, biases and norms."""
        return self.matrix_bytes + self.vector_bytes

    @property
    def float32_file_bytes(self) -> int:
        """Bytes of the same file with fp32 parameters and without compression of the whole file."""
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
        """Return the report as plain text, one line for each matrix."""
        return "\n".join([*self._heading(), "", *self._matrix_table(), "", *self._totals()])

    def _heading(self) -> list[str]:
        sizes = self.architecture.to_json()
        source = _language(self.source_language, self.source_languages)
        target = _language(self.target_language, self.target_languages)
        facts = [
            ("file", self.path),
            ("languages", f"{source} to {target}"),
            ("sources", _languages(self.source_languages)),
            ("targets", _languages(self.target_languages)),
            ("unit", self.unit),
            ("description", self.description),
            ("licence", self.licence),
            ("producer", self.producer),
            ("recipe", _recipe(self.recipe)),
            ("training", _facts(self.training, self.recipe)),
            ("scores", _scores(self.training, self.recipe)),
            ("architecture", ", ".join(f"{name} {value}" for name, value in sizes.items() if name != "type")),
            ("activations", self.activation_ranges or str(self.activation_quantization or "")),
            ("shortlist", self.shortlist),
        ]
        return [f"{name + ':':<14}{printable(text)}" for name, text in facts if text]

    def _matrix_table(self) -> list[str]:
        rows = [("matrix", "shape", "scheme", "bits", "with scales", "smaller", "bytes")]
        for matrix in (*self.matrices, *self.vector_groups):
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
            ("known words", self.known_words_bytes, self.known_words_bytes),
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
    """Open and check a model file, and report on it; raises ModelFileError as `open_model` does."""
    with open_model(path) as file:
        return _report(str(os.fspath(path)), file)


def printable(text: str) -> str:
    """Escape characters that could control a terminal, for text from a file."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def bleu_title(tokenization: object) -> str:
    """Return the name of a BLEU for messages, by the name of its tokens in sacreBLEU; None: words."""
    return "BLEU (characters)" if tokenization == "char" else "BLEU"


def equal_tokenization(scores: Mapping[str, object], others: Mapping[str, object]) -> bool:
    """Return whether the BLEU in two parts of a manifest counts the same tokens."""
    return scores.get(TOKENIZATION) == others.get(TOKENIZATION)


def _report(path: str, file: ModelFile) -> ModelReport:
    shapes = file.architecture.parameter_shapes()
    matrices = tuple(_matrix(file, name, shape) for name, shape in shapes.items() if len(shape) == 2)
    parameters = sum(math.prod(shape) for shape in shapes.values())
    vocabulary_bytes = sum(file.tensors[name].size for name in file.vocabulary_tensors)
    vector_groups = tuple(
        _matrix(file, name, (len(vectors), *shapes[vectors[0]])) for name, vectors in file.vector_groups.items()
    )
    plain = (name for name, shape in shapes.items() if len(shape) == 1 and name in file.tensors)
    vector_bytes = sum(file.tensors[name].size for name in plain) + sum(group.bytes for group in vector_groups)
    stored = sum(entry.size for entry in file.tensors.values())
    pieces = file.language_pieces
    return ModelReport(
        path=path,
        architecture=file.architecture,
        source_language=file.source_language,
        target_language=file.target_language,
        source_languages=tuple(pieces.source) if pieces is not None else (),
        target_languages=tuple(pieces.target) if pieces is not None else (),
        unit=file.unit,
        description=str(file.manifest["description"]),
        licence=str(file.manifest["licence"]),
        producer=str(file.manifest["producer"]),
        recipe=_object(file.manifest["recipe"]),
        training=_object(file.manifest["training"]),
        activation_quantization=file.activation_quantization,
        matrices=matrices,
        vector_groups=vector_groups,
        activation_ranges=_activation_ranges(file.activation_ranges),
        vector_bytes=vector_bytes,
        range_bytes=_range_bytes(file),
        shortlist=_shortlist(file),
        shortlist_bytes=_tensor_bytes(file, SHORTLIST_TENSOR),
        known_words_bytes=_tensor_bytes(file, KNOWN_WORDS),
        vocabulary_bytes=vocabulary_bytes,
        container_bytes=len(file.buffer) - stored,
        compressed_bytes=len(file.buffer) - file.file_bytes,
        file_bytes=file.file_bytes,
        parameters=parameters,
        float32_bytes=FLOAT32_BYTES * parameters,
    )


def _language(code: str, several: Sequence[str]) -> str:
    return code or ("several" if several else "unknown")


def _languages(codes: Sequence[str]) -> str:
    return f"{len(codes)}: {', '.join(codes)}" if codes else ""


def _object(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return dict(value)


def _recipe(recipe: Mapping[str, object]) -> str:
    """Return the name and the description of a recipe, or the scheme of a file that was packed without one."""
    if "name" not in recipe:
        return f"none, packed as {recipe['schemes']}" if "schemes" in recipe else ""
    description = recipe.get("description")
    return f"{recipe['name']}: {description}" if description else str(recipe["name"])


def _facts(training: Mapping[str, object], recipe: Mapping[str, object]) -> str:
    compression = training.get("compression")
    facts = {name: value for name, value in training.items() if name not in (*_SCORES, TOKENIZATION, "compression")}
    if isinstance(compression, dict) and "update" in compression and _retrains(recipe, compression.get("stage")):
        facts["retraining update"] = compression["update"]
    return _named_values(facts)


def _retrains(recipe: Mapping[str, object], number: object) -> bool:
    """Return whether a stage of a recipe, by its number from 0, has updates."""
    stages = recipe.get("stages")
    stage = dict(enumerate(stages)).get(number) if isinstance(stages, list) and isinstance(number, int) else None
    retraining = stage.get("retraining") if isinstance(stage, dict) else None
    return isinstance(retraining, dict) and "updates" in retraining


def _scores(training: Mapping[str, object], recipe: Mapping[str, object]) -> str:
    """Return the scores on validation text, of the model before compression or packing, and of this file.

    BLEU before compression is left out where it counts other tokens than that of this file.
    """
    compression = training.get("compression")
    scores = compression if isinstance(compression, dict) else {}
    if "bleu" in scores and not equal_tokenization(training, scores):
        training = {name: value for name, value in training.items() if name != "validation_bleu"}
    before, after = _titled(training, _SCORES), _titled(scores, _COMPRESSION_SCORES)
    earlier = _named_values(before)
    if before and (after or recipe):
        earlier += " before compression" if after else " before packing"
    return "; ".join(part for part in (_named_values(after), earlier) if part)


def _titled(scores: Mapping[str, object], titles: Mapping[str, str]) -> dict[str, object]:
    bleu = bleu_title(scores.get(TOKENIZATION))
    return {title.replace("BLEU", bleu): scores[name] for name, title in titles.items() if name in scores}


def _named_values(values: Mapping[str, object]) -> str:
    shown = {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in values.items()}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items())


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
    if any(f"{name}.{index}.{group.form.code_tensor}" in file.coded for index, group in enumerate(groups)):
        scheme += ", entropy-coded"
    names = [f"{name}.{index}.{suffix}" for index, group in enumerate(groups) for suffix in group.tensors()]
    held = [coded_name(tensor) if tensor in file.coded else tensor for tensor in names]
    size = sum(file.tensors[tensor].size for tensor in (*held, f"{name}.groups") if tensor in file.tensors)
    code_bits = sum(group.form.bits * group.rows for group in groups) / shape[0]
    title = f"{name} ({file.vector_groups[name][0]}, ..)" if name in file.vector_groups else name
    return MatrixReport(title, shape, scheme, code_bits, 8 * size / math.prod(shape), size)


def _activation_ranges(ranges: StoredActivationRanges | None) -> str:
    if ranges is None:
        return ""
    shown = [f"{name} by element" if name in ranges.bucketed else name for name in ranges.operations]
    text = f"{ranges.bits} bit within trained ranges: {', '.join(shown)}"
    if ranges.quantized_again:
        text += f"; products quantize {', '.join(ranges.quantized_again)} again, to 8 bits with a scale for each row"
    return text


def _shortlist(file: ModelFile) -> str:
    content, stored = file.shortlist(), file.stored_shortlist
    if content is None or stored is None:
        return ""
    targets = sum(content[: file.architecture.source_size])
    return f"{stored.frequent:,} pieces for every sentence, {targets:,} targets of source pieces"


def _tensor_bytes(file: ModelFile, name: str) -> int:
    return file.tensors[name].size if name in file.tensors else 0


def _range_bytes(file: ModelFile) -> int:
    operations = () if file.activation_ranges is None else file.activation_ranges.operations
    scales = file.matrices if isinstance(file.activation_quantization, StoredStaticActivations) else ()
    names = *map(ranges_name, operations), *map(activation_scale_name, scales)
    return sum(_tensor_bytes(file, name) for name in names)


def _scheme(group: StoredRowGroup, groups: int) -> str:
    return f"{group.rows} rows of {group.form}" if groups > 1 else str(group.form)


def _aligned(rows: Sequence[tuple[str, ...]], alignments: str) -> list[str]:
    """Lay rows out in columns, each with an alignment, "<" or ">"."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, alignments, widths, strict=True)).rstrip()
        for row in rows
    ]
