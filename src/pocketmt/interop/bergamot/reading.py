"""Reading a model of bergamot: its codes and scales stay as they are."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.bergamot.container import FLOAT32, INT8, INTGEMM8, Item, read_container
from pocketmt.interop.bergamot.folder import BergamotFiles, find_files
from pocketmt.interop.bergamot.lex_file import read_lex_file
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodedRows, CodesTensor, Float32, ForeignTensor, Tensor, stacked
from pocketmt.interop.marian.description import OLD_ACTIVATIONS, MarianNetwork, describe
from pocketmt.interop.marian.files import named_files
from pocketmt.interop.marian.model_yml import Value, read_model_yml
from pocketmt.interop.marian.names import Place, place
from pocketmt.interop.marian.search_settings import notes_on_settings
from pocketmt.interop.marian.settings import MODEL_YML
from pocketmt.interop.marian.vocabularies import notes_on_languages, read_vocabularies
from pocketmt.interop.named_errors import with_path
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.shortlist_encoding import listed_sides

MULTIPLIER: Final = "_QuantMultA"  # after the name of a matrix: the multiplier of its inputs
NAMELESS: Final = "none" + MULTIPLIER  # that of the output matrix, which has no name once rows of it were chosen
_STATIC: Final = "int8shiftAlphaAll"
PRE_NORM: Final = "bergamot normalizes the inputs of self-attention's queries, but not those of its keys and values"
PER_BATCH: Final = "bergamot makes a shortlist for a batch and fills it up to a multiple of 8, PocketMT for a sentence"


def read_model(path: Path) -> ForeignModel:
    """Read a model of bergamot.

    Args:
        path: its folder, or its file in a folder with its vocabulary.

    Raises InteropError naming what is damaged, or what PocketMT does not have.
    """
    files = find_files(path)
    try:
        return _read(files)
    except (ConfigurationError, InteropError) as error:
        about = files.model.parent if str(error).startswith(str(files.model.parent)) else files.model
        raise with_path(about, error) from error


def _read(files: BergamotFiles) -> ForeignModel:
    items = _Items(read_container(files.model))
    vocabularies, facts = read_vocabularies(files.marian)
    network = describe(read_model_yml(items.settings()), facts, OLD_ACTIVATIONS)
    if network.architecture.pre_norm:
        raise InteropError(f"its settings have norms before the layers, where {PRE_NORM}: PocketMT has no such network")
    shapes = network.architecture.parameter_shapes()
    tensors = {name: items.tensor(place(name, network), shape) for name, shape in shapes.items()}
    coded = [name for name, tensor in tensors.items() if isinstance(tensor, CodesTensor)]
    scales = _activation_scales(items, network, coded)
    items.finish()
    if "output.weight" in coded:
        raise InteropError("its output matrix has 8 bits and is not tied to the embedding, which bergamot does not run")
    folder = files.model.parent
    settings = named_files(folder)
    notes = [*network.notes, *notes_on_languages(vocabularies.source), *notes_on_settings(folder, settings)]
    if scales is None and coded:
        notes.append("inputs of matrices have no multipliers: they are quantized by row")
    notes += _note_on_precision(settings, "float32" if not coded else "int8shiftAll" if scales is None else _STATIC)
    shortlist = None
    if files.shortlist is not None:
        sides = listed_sides(network.architecture)
        shortlist = read_lex_file(files.shortlist, sides, shared=vocabularies.target is None)
        notes.append(PER_BATCH)
    return ForeignModel(
        architecture=network.architecture,
        tensors=tensors,
        vocabularies=vocabularies,
        metadata=files.described(),
        activation_scales=scales,
        shortlist=shortlist,
        notes=tuple(notes),
    )


def _note_on_precision(settings: Mapping[str, Value], own: str) -> list[str]:
    """Return a note if settings ask for other products than the file has the numbers for, which `own` names."""
    asked = settings.get("gemm-precision")
    kinds = ["static" if "Alpha" in text else "dynamic" if "int" in text else text for text in (str(asked), own)]
    if asked is None or kinds[0] == kinds[1]:
        return []
    return [f"gemm-precision is {asked!s:.40}, but PocketMT multiplies as with {own}, for which the file has numbers"]


def output_matrix(architecture: Architecture) -> str:
    """Return our name of the matrix that is the output projection."""
    return "embedding.weight" if architecture.output_projection == "tied" else "output.weight"


class _Items:
    """The items of a file; those that are never taken are refused by `finish`."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items
        self._taken: set[str] = set()

    def take(self, name: str) -> Item:
        if name not in self._items:
            raise InteropError(f"the item {name} is missing: the model is of another kind, or damaged")
        self._taken.add(name)
        return self._items[name]

    def settings(self) -> bytes:
        item = self.take(MODEL_YML)
        if item.type != INT8:
            raise InteropError(f"the item {MODEL_YML} has the type {item.type:#x}, expected {INT8:#x}")
        return bytes(item.data[: item.size])

    def multiplier(self, name: str) -> float | None:
        """Return the one number of an item; that of `Wemb` is held as a code."""
        if name not in self._items:
            return None
        item = self.take(name)
        if item.size != 1:
            raise InteropError(f"the item {name} has the shape {list(item.shape)}, expected one number")
        value = float(item.floats().item()) if item.type == FLOAT32 else item.codes().item() / item.multiplier()
        if not 1e-20 < value < 1e20:
            raise InteropError(f"the item {name} is {value}, which is no multiplier of activations")
        return value

    def tensor(self, where: Place, shape: tuple[int, ...]) -> Tensor:
        rows = (shape[0] // len(where.names), *shape[1:])
        transposed = where.form == "matrix"
        items = [self._checked(name, rows, transposed) for name in where.names]
        if all(item.type == FLOAT32 for item in items):
            return stacked(*(_floats(item, rows, transposed) for item in items))
        if len(shape) == 1 or not all(item.type == INTGEMM8 for item in items):
            raise InteropError(f"the items {', '.join(where.names)} have types that PocketMT does not have together")
        return CodesTensor(shape, tuple(_coded(item, rows) for item in items))

    def _checked(self, name: str, shape: tuple[int, ...], transposed: bool) -> Item:
        item = self.take(name)
        expected = (1, *shape) if len(shape) == 1 else shape[::-1] if transposed else shape
        if item.shape != expected and not (len(shape) == 1 and item.shape == shape):
            raise InteropError(f"the item {name} is {list(item.shape)}, settings and vocabulary say {list(expected)}")
        return item

    def finish(self) -> None:
        # The multiplier of the source's embedding is of no use: it is looked up, not multiplied.
        unused = self._items.keys() - self._taken - {f"encoder_Wemb{MULTIPLIER}"}
        if unused:
            raise InteropError(f"holds the item {sorted(unused)[0]!r:.120}, which PocketMT has no place for")


def _floats(item: Item, shape: tuple[int, ...], transposed: bool) -> ForeignTensor:
    def blocks() -> Iterable[Float32]:
        values = item.floats().T if transposed else item.floats().reshape(shape)
        return (np.ascontiguousarray(values),)

    return ForeignTensor(shape, blocks)


def _coded(item: Item, shape: tuple[int, ...]) -> CodedRows:
    with np.errstate(over="ignore"):
        scale = np.float32(1) / np.float32(item.multiplier())
    if not 0 < scale < np.inf:
        raise InteropError(f"the item {item.name} has the multiplier {item.multiplier()}: the file is damaged")
    return CodedRows(shape[0], np.array([scale], np.float32), partial(_codes, item, shape))


def _codes(item: Item, shape: tuple[int, ...]) -> NDArray[np.int8]:
    return item.codes().reshape(shape)


def _activation_scales(items: _Items, network: MarianNetwork, coded: list[str]) -> dict[str, float] | None:
    """Return the scales of the inputs of matrices of codes; None: the file has none."""
    found: dict[str, float] = {}
    missing = []
    for name in coded:
        if name == "source_embedding.weight":
            continue
        names = place(name, network).names
        of_output = [items.multiplier(NAMELESS)] if name == output_matrix(network.architecture) else []
        each = [items.multiplier(part + MULTIPLIER) for part in names]
        known = [value for value in (*of_output, *each) if value is not None]
        if not known or (None in each and not of_output):
            missing.append(names[0])
        elif len({np.float32(value) for value in each if value is not None}) > 1:
            raise InteropError(f"the items {', '.join(names)} have inputs of different multipliers, {each}")
        else:
            found[name] = float(np.float32(1) / np.float32(known[0]))
    if found and missing:
        raise InteropError(f"the item {missing[0]}{MULTIPLIER} is missing, but others have one: the file is damaged")
    return found or None
