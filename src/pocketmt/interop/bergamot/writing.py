"""Writing a model for bergamot: 8-bit codes with one scale a matrix."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import InteropError
from pocketmt.interop.bergamot.container import Item, coded_item, float_item, settings_item, write_container
from pocketmt.interop.bergamot.folder import METADATA
from pocketmt.interop.bergamot.lex_file import lex_file
from pocketmt.interop.bergamot.reading import MULTIPLIER, NAMELESS, PER_BATCH, PRE_NORM, output_matrix
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor, Tensor
from pocketmt.interop.left_out import Part, notes_of_left_out
from pocketmt.interop.marian.description import NORMALIZATION_EPSILON, MarianNetwork
from pocketmt.interop.marian.names import Place, place
from pocketmt.interop.marian.settings import Setting, format_settings, settings_of
from pocketmt.interop.marian.vocabularies import never_generated
from pocketmt.interop.reciprocal import reciprocal
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.stored_vocabulary import StoredVocabularies

MODEL, SHORTLIST, CONFIGURATION = "model.bin", "lex.bin", "config.yml"
HIGHEST_CODE: Final = 127
_WIDTHS: Final = 64  # the engine's kernels take multiples of it
_PIECES: Final = 8
_HELD: Final[tuple[Part, ...]] = ("shortlist", "scales of activations", "languages")


def write_model(model: ForeignModel, folder: Path) -> tuple[str, ...]:
    """Write a model, its vocabulary, its shortlist and a configuration; returns notes on what is only near.

    Raises InteropError naming what bergamot does not have.
    """
    architecture = model.architecture
    settings = settings_of(architecture)
    assert isinstance(architecture, TransformerArchitecture)
    _check(architecture)
    notes = _notes(model)
    writer = _Items(model)
    items = sorted(writer.items(), key=lambda item: item.name)
    items.append(settings_item(format_settings(settings)))
    with (folder / MODEL).open("wb") as file:
        write_container(file, items)
    vocabularies = _write_vocabularies(model.vocabularies, folder)
    if model.shortlist is not None:
        shared = model.vocabularies.target is None
        (folder / SHORTLIST).write_bytes(lex_file(model.shortlist, architecture.eos_id, shared))
        notes.append(PER_BATCH)
    _write_descriptions(model, settings, vocabularies, folder)
    if writer.rounded:
        notes.append(
            f"{len(writer.rounded)} matrices are rounded to 8 bits with one scale each, e.g. {writer.rounded[0]}"
        )
    return tuple(notes)


def _check(architecture: TransformerArchitecture) -> None:
    if architecture.pre_norm:
        raise InteropError(f"norm is 'pre', where {PRE_NORM}: it would compute another network")
    if architecture.output_projection != "tied":
        raise InteropError("bergamot: PocketMT does not write a model whose output_projection is 'untied'")
    widths = {
        "model_dimension": (architecture.model_dimension, _WIDTHS),
        "feed_forward_dimension": (architecture.feed_forward_dimension, _WIDTHS),
        "vocabulary_size": (architecture.vocabulary_size, _PIECES),
    }
    for name, (size, unit) in widths.items():
        if size % unit:
            raise InteropError(f"bergamot has no model with {name} {size}: its kernels need a multiple of {unit}")


def _notes(model: ForeignModel) -> list[str]:
    notes = []
    epsilon = model.architecture.normalization_epsilon
    if epsilon != NORMALIZATION_EPSILON:
        notes.append(f"Marian's layer normalization has epsilon {NORMALIZATION_EPSILON:g}, not {epsilon:g}")
    if any(side.normalization != "none" for side in model.vocabularies.sides):
        notes.append("bergamot normalizes text by the rules of the SentencePiece model alone, without NFKC")
    if model.activation_scales is None:
        notes.append(
            "activations have no calibrated scales, so that gemm-precision is int8shiftAll: compress the model with "
            "static activations first to have them"
        )
    target = load_checked(model.vocabularies, model.architecture).target
    banned = {*model.architecture.banned_ids} - never_generated(target)
    return [*notes, *notes_of_left_out(model, _HELD, banned)]


class _Items:
    """The items of a model; `rounded` has the matrices that were not codes with one scale."""

    def __init__(self, model: ForeignModel) -> None:
        assert isinstance(model.architecture, TransformerArchitecture)
        self._model = model
        self._architecture = model.architecture
        layers = model.architecture.stored_decoder_layers
        self._network = MarianNetwork(model.architecture, tuple(range(1, layers + 1)))
        self.rounded: list[str] = []

    def items(self) -> Iterator[Item]:
        shapes = self._architecture.parameter_shapes()
        for name in shapes:
            names = place(name, self._network)
            tensor = self._model.tensors[name]
            yield from self._matrix(name, names, tensor) if len(shapes[name]) == 2 else _vectors(names, tensor)
        yield from self._missing_biases(shapes)
        if self._model.activation_scales is not None:
            yield from self._multipliers(self._model.activation_scales)

    def _matrix(self, name: str, names: Place, tensor: Tensor) -> Iterator[Item]:
        rows = tensor.shape[0] // len(names.names)
        parts = _coded_parts(tensor, len(names.names))
        if parts is None:
            self.rounded.append(name)
            parts = [_round(part) for part in np.split(tensor.read(), len(names.names))]
        shape = (tensor.shape[1], rows) if names.form == "matrix" else (rows, tensor.shape[1])
        for each, (codes, multiplier) in zip(names.names, parts, strict=True):
            yield coded_item(each, shape, codes, multiplier)

    def _missing_biases(self, shapes: dict[str, tuple[int, ...]]) -> Iterator[Item]:
        """Return zeros for the biases of attention, which Marian always has."""
        for name in shapes:
            names = place(name, self._network)
            bias = name.removesuffix("weight") + "bias"
            if "attention." in name and name.endswith("weight") and bias not in shapes:
                for each in names.names:
                    zeros = np.zeros(shapes[name][0] // len(names.names), np.float32)
                    yield float_item("_b".join(each.rsplit("_W", 1)), zeros)

    def _multipliers(self, scales: Mapping[str, float]) -> Iterator[Item]:
        output = output_matrix(self._architecture)
        for name in scales:
            names = place(name, self._network)
            value = reciprocal(np.float32(scales[name]))
            for each in names.names:
                if name == output:
                    codes = np.array([HIGHEST_CODE], np.int8)
                    yield coded_item(each + MULTIPLIER, (1, 1), codes, float(np.float32(HIGHEST_CODE) / value))
                    yield float_item(NAMELESS, np.array([value], np.float32))
                else:
                    yield float_item(each + MULTIPLIER, np.array([value], np.float32))


def _vectors(names: Place, tensor: Tensor) -> Iterator[Item]:
    for name, part in zip(names.names, np.split(tensor.read(), len(names.names)), strict=True):
        yield float_item(name, part)


def _coded_parts(tensor: Tensor, parts: int) -> list[tuple[NDArray[np.int8], float]] | None:
    """Return codes and multiplier of each part of a matrix; None if a part has no one scale above 0."""
    if isinstance(tensor, ForeignTensor) or any(len(group.scales) > 1 for group in tensor.groups):
        return None
    rows = tensor.shape[0] // parts
    found: list[tuple[NDArray[np.int8], float]] = []
    for group in tensor.groups:
        if group.rows % rows or not group.scales[0] > 0:
            return None
        multiplier = float(reciprocal(group.scales[0]))
        found += [(part, multiplier) for part in np.split(group.codes(), group.rows // rows)]
    return found


def _round(weights: Float32) -> tuple[NDArray[np.int8], float]:
    """Return the nearest codes, and the multiplier by which the largest magnitude is 127."""
    largest = np.abs(weights).max(initial=np.float32(0))
    multiplier = np.float32(HIGHEST_CODE) / largest if largest > 0 else np.float32(1)
    multiplier = reciprocal(np.float32(1) / multiplier) if np.isfinite(multiplier) else np.float32(1)
    codes = np.clip(np.rint(weights * multiplier), -HIGHEST_CODE, HIGHEST_CODE)
    return codes.astype(np.int8), float(multiplier)


def _write_vocabularies(vocabularies: StoredVocabularies, folder: Path) -> tuple[str, str]:
    """Write one SentencePiece model or two; returns their names for source and target."""
    names = ("vocab.spm",) if vocabularies.target is None else ("srcvocab.spm", "trgvocab.spm")
    for name, side in zip(names, vocabularies.sides, strict=True):
        if side.pieces is not None:
            raise InteropError("bergamot has vocabularies without id tables only: their ids are SentencePiece's")
        (folder / name).write_bytes(side.model)
    return names[0], names[-1]


def _write_descriptions(
    model: ForeignModel, settings: dict[str, Setting], vocabularies: tuple[str, str], folder: Path
) -> None:
    lines = [
        f"models:\n  - {MODEL}",
        f"vocabs:\n  - {vocabularies[0]}\n  - {vocabularies[1]}",
        *([f"shortlist:\n  - {SHORTLIST}\n  - false"] if model.shortlist is not None else []),
        "beam-size: 1",
        "normalize: 1.0",
        "word-penalty: 0",
        "max-length-break: 128",
        "mini-batch-words: 1024",
        "workspace: 128",
        "max-length-factor: 2.0",
        "skip-cost: true",
        "cpu-threads: 0",
        "quiet: true",
        "quiet-translation: true",
        f"gemm-precision: {'int8shiftAll' if model.activation_scales is None else 'int8shiftAlphaAll'}",
        "alignment: soft",
    ]
    (folder / CONFIGURATION).write_text("\n".join(lines) + "\n")
    about = {
        "byteSize": (folder / MODEL).stat().st_size,
        "modelConfig": settings,
        "sourceLanguage": model.metadata.source_language,
        "targetLanguage": model.metadata.target_language,
    }
    (folder / METADATA).write_text(json.dumps(about, indent=2) + "\n")
