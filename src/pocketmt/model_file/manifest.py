"""The manifest: what a model file says about itself, checked member by member."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.activations import StoredActivations, activations_from_json
from pocketmt.model_file.architecture import (
    Architecture,
    TransformerArchitecture,
    architecture_from_json,
)
from pocketmt.model_file.entropy_coding import CODING
from pocketmt.model_file.layout import RowGroup, StoredScheme, TensorForm, scheme_from_json
from pocketmt.model_file.newer import NewerFileError
from pocketmt.model_file.products import Products, StaticProducts, activation_scale_name, products_from_json
from pocketmt.model_file.shortlist import StoredShortlist, shortlist_from_json
from pocketmt.model_file.sparse import kept_form, kept_name, sparse_from_json
from pocketmt.model_file.vectors import Stacks, stacks_from_json, stored_shapes

FORMAT_VERSION: Final = 1
VOCABULARY_TENSOR: Final = "vocabulary"
MAXIMUM_VOCABULARY_BYTES: Final = 64 << 20
MAXIMUM_ROW_GROUPS: Final = 256  # of one matrix
_OBJECT: Final = "an object"
_TEXT: Final = "a string"
_MEMBERS: Final = {
    "architecture": _OBJECT,
    "languages": _OBJECT,
    "vocabulary": _OBJECT,
    "schemes": "a list",
    "matrices": _OBJECT,
    "recipe": _OBJECT,
    "licence": _TEXT,
    "producer": _TEXT,
    "training": _OBJECT,
    "description": _TEXT,
}
_TYPES: Final[dict[str, type]] = {_OBJECT: dict, _TEXT: str, "a list": list}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a checked manifest promises: the network, its quantized matrices, and every tensor's dtype and shape."""

    architecture: Architecture
    languages: tuple[str, str]  # source, target
    vocabulary_bytes: int
    matrices: dict[str, tuple[RowGroup, ...]]  # stacks of vectors among them
    stacks: Stacks
    sparse: tuple[str, ...]  # fp32 matrices whose zeros are left out
    tensors: dict[str, TensorForm]  # without those whose size the manifest does not fix
    coded: bool  # codes may be entropy-coded
    products: Products | StaticProducts | None  # of activations and quantized matrices; None: 8 bits, a scale a row
    shortlist: StoredShortlist | None
    activations: StoredActivations | None  # None: only products quantize them, at run time


def check_manifest(manifest: dict[str, object]) -> Contents:
    """Check a manifest and derive what the file must hold; raises ModelFileError naming the member."""
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"manifest: format_version is {version!r:.40}, expected a whole number of at least 1")
    if version > FORMAT_VERSION:
        raise NewerFileError(f"manifest: format version {version}, this PocketMT reads up to {FORMAT_VERSION}")
    optional = {"coding", "vectors", "sparse", "products", "activations", "shortlist"} & set(manifest)
    _check_members(manifest, ("format_version", *_MEMBERS, *optional), "manifest")
    if manifest.get("coding", CODING) != CODING:
        raise NewerFileError(f"manifest: coding {manifest['coding']!r:.40} is unknown here (known: {CODING!r})")
    products = products_from_json(manifest["products"], "manifest: products") if "products" in manifest else None
    for name, kind in _MEMBERS.items():
        if not isinstance(manifest[name], _TYPES[kind]):
            raise ModelFileError(f"manifest: {name} is not {kind}")
    languages = _languages(manifest["languages"])
    try:
        architecture = architecture_from_json(manifest["architecture"])
    except ConfigurationError as error:
        raise ModelFileError(f"manifest: {error}") from error
    schemes = manifest["schemes"]
    assert isinstance(schemes, list)
    stored = [scheme_from_json(entry, f"manifest: schemes[{index}]") for index, entry in enumerate(schemes)]
    parameters = architecture.parameter_shapes()
    stacks = stacks_from_json(manifest["vectors"], parameters) if "vectors" in manifest else {}
    shapes = stored_shapes(parameters, stacks)
    matrices = _matrices(manifest["matrices"], shapes, stored)
    for stack in stacks:
        if stack not in matrices:
            raise ModelFileError(f"manifest: matrices: {stack!r} is missing, whose rows are vectors")
    sparse = sparse_from_json(manifest["sparse"], parameters, matrices) if "sparse" in manifest else ()
    tensors = _tensor_forms(shapes, matrices, sparse)
    if isinstance(products, StaticProducts):
        tensors |= {activation_scale_name(name): ("F32", (1,)) for name in matrices if name not in stacks}
    activations = activations_from_json(manifest["activations"]) if "activations" in manifest else None
    if activations is not None:
        if not isinstance(architecture, TransformerArchitecture) or not architecture.equal_heads:
            raise ModelFileError(
                "manifest: activations: a Transformer alone has such ranges, with a decoder of self-attention, no tied "
                "layers, and as many heads in each layer"
            )
        tensors |= activations.tensors(architecture)
    if activations is not None and products is not None:
        raise ModelFileError("manifest: products and activations both say how activations are quantized")
    size = architecture.vocabulary_size
    return Contents(
        architecture=architecture,
        languages=languages,
        vocabulary_bytes=_vocabulary_bytes(manifest["vocabulary"]),
        matrices=matrices,
        stacks=stacks,
        sparse=sparse,
        tensors=tensors,
        coded="coding" in manifest,
        products=products,
        shortlist=shortlist_from_json(manifest["shortlist"], size) if "shortlist" in manifest else None,
        activations=activations,
    )


def _check_members(value: object, members: Collection[str], where: str) -> None:
    assert isinstance(value, dict)
    for name in members:
        if name not in value:
            raise ModelFileError(f"{where}: {name} is missing")
    for name in value:
        if name not in members:
            raise NewerFileError(f"{where}: unknown member {name!r:.80}")


def _languages(value: object) -> tuple[str, str]:
    _check_members(value, ("source", "target"), "manifest: languages")
    assert isinstance(value, dict)
    source, target = value["source"], value["target"]
    if not isinstance(source, str) or not isinstance(target, str):
        raise ModelFileError("manifest: languages: source and target are not strings")
    return source, target


def _vocabulary_bytes(value: object) -> int:
    where = "manifest: vocabulary"
    _check_members(value, ("encoding", "bytes", "normalization"), where)
    assert isinstance(value, dict)
    if value["encoding"] != "xz":
        raise ModelFileError(f"{where}: encoding is {value['encoding']!r:.40}, expected 'xz'")
    if value["normalization"] != "nfkc":
        raise ModelFileError(f"{where}: normalization is {value['normalization']!r:.40}, expected 'nfkc'")
    size = value["bytes"]
    if type(size) is not int or not 1 <= size <= MAXIMUM_VOCABULARY_BYTES:
        raise ModelFileError(
            f"{where}: bytes is {size!r:.40}, expected a whole number from 1 to {MAXIMUM_VOCABULARY_BYTES}"
        )
    return size


def _matrices(
    value: object, shapes: dict[str, tuple[int, ...]], schemes: list[StoredScheme]
) -> dict[str, tuple[RowGroup, ...]]:
    assert isinstance(value, dict)
    matrices = {}
    for name, groups in value.items():
        where = f"manifest: matrices: {name!r:.120}"
        shape = shapes.get(name, ())
        if len(shape) != 2:
            raise ModelFileError(f"{where} is not a matrix of this architecture")
        if not isinstance(groups, list) or not 1 <= len(groups) <= MAXIMUM_ROW_GROUPS:
            raise ModelFileError(f"{where}: expected a list of 1 to {MAXIMUM_ROW_GROUPS} row groups")
        matrices[name] = tuple(_row_group(group, schemes, shape[1], where) for group in groups)
        if (rows := sum(group.rows for group in matrices[name])) != shape[0]:
            raise ModelFileError(f"{where}: its row groups have {rows} rows together, the matrix has {shape[0]}")
    return matrices


def _row_group(value: object, schemes: list[StoredScheme], columns: int, where: str) -> RowGroup:
    if not isinstance(value, list) or len(value) != 2 or not all(type(member) is int for member in value):
        raise ModelFileError(f"{where}: a row group is [scheme index, row count], not {value!r:.80}")
    index, rows = value
    if not 0 <= index < len(schemes):
        raise ModelFileError(f"{where}: there is no scheme {index!r:.40}, the manifest has {len(schemes)}")
    if rows < 1:
        raise ModelFileError(f"{where}: a row group has {rows!r:.40} rows, expected at least 1")
    scheme = schemes[index]
    return RowGroup(scheme.name, scheme.bits, scheme.granularity, scheme.levels, rows, columns)


def _tensor_forms(
    shapes: dict[str, tuple[int, ...]], matrices: dict[str, tuple[RowGroup, ...]], sparse: tuple[str, ...]
) -> dict[str, TensorForm]:
    forms: dict[str, TensorForm] = {}
    for name, shape in shapes.items():
        if name in matrices:
            for index, group in enumerate(matrices[name]):
                for suffix, form in group.tensors().items():
                    forms[f"{name}.{index}.{suffix}"] = form
        elif name in sparse:
            forms[kept_name(name)] = kept_form(*shape)
        else:
            forms[name] = ("F32", shape)
    return forms
