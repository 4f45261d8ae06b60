"""The manifest: the description of a model in its file, checked member by member."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.activations.activation_quantization import (
    StoredActivationQuantization,
    StoredStaticActivations,
    activation_quantization_from_json,
    activation_scale_name,
)
from pocketmt.model_file.activations.activation_ranges import StoredActivationRanges, activation_ranges_from_json
from pocketmt.model_file.architecture import Architecture, architecture_from_json
from pocketmt.model_file.errors import NewerFileError
from pocketmt.model_file.known_words import KNOWN_WORDS, known_words_from_json
from pocketmt.model_file.matrices.entropy_coding import CODING
from pocketmt.model_file.matrices.grouped_vectors import VectorGroups, stored_shapes, vector_groups_from_json
from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.matrices.sparse import kept_layout, kept_name, sparse_from_json
from pocketmt.model_file.matrices.stored_form import StoredForm, TensorLayout
from pocketmt.model_file.matrices.stored_forms import form_from_json
from pocketmt.model_file.members import check_members
from pocketmt.model_file.shortlist import StoredShortlist, shortlist_from_json
from pocketmt.model_file.vocabularies import TARGET_VOCABULARY, VocabularyEntries, vocabularies_from_json

if TYPE_CHECKING:  # Few models have several languages.
    from pocketmt.model_file.language_pieces import LanguagePieces

FORMAT_VERSION: Final = 1
MAXIMUM_ROW_GROUPS: Final = 256  # of one matrix
DEFAULT_UNIT: Final = "sentence"
UNITS: Final = (DEFAULT_UNIT, "line", "document")
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
_OPTIONAL: Final = {
    "coding",
    "vectors",
    "sparse",
    "products",
    "activations",
    "shortlist",
    KNOWN_WORDS,
    "unit",
    "language_pieces",
    TARGET_VOCABULARY,
}
_TYPES: Final[dict[str, type]] = {_OBJECT: dict, _TEXT: str, "a list": list}


class CheckedManifest(NamedTuple):
    """The content of a checked manifest, and the dtype and shape of every tensor that the file must hold."""

    architecture: Architecture
    languages: tuple[str, str]  # source, target
    language_pieces: "LanguagePieces | None"  # None: one language on each side
    vocabularies: VocabularyEntries
    matrices: dict[str, tuple[StoredRowGroup, ...]]  # including vector groups
    vector_groups: VectorGroups
    sparse: tuple[str, ...]  # fp32 matrices stored without their zeros
    tensors: dict[str, TensorLayout]  # without those whose size the manifest does not state
    entropy_coded: bool  # whether codes may be entropy-coded
    activation_quantization: StoredActivationQuantization | None  # None: dynamic, 8 bits with a scale for each row
    activation_ranges: StoredActivationRanges | None  # None: no operation is quantized within trained ranges
    shortlist: StoredShortlist | None
    known_words: int | None  # number of hashes; None: the file has no known words
    unit: str  # what the model translates at once: one of UNITS


def check_manifest(manifest: dict[str, object]) -> CheckedManifest:
    """Check a manifest, and derive the tensors of the file; raises ModelFileError naming the member."""
    _check_version_and_members(manifest)
    quantization = (
        activation_quantization_from_json(manifest["products"], "manifest: products")
        if "products" in manifest
        else None
    )
    for name, kind in _MEMBERS.items():
        if not isinstance(manifest[name], _TYPES[kind]):
            raise ModelFileError(f"manifest: {name} is not {kind}")
    languages = _languages(manifest["languages"])
    try:
        architecture = architecture_from_json(manifest["architecture"])
    except ConfigurationError as error:
        raise ModelFileError(f"manifest: {error}") from error
    parameters = architecture.parameter_shapes()
    vector_groups = vector_groups_from_json(manifest["vectors"], parameters) if "vectors" in manifest else {}
    shapes = stored_shapes(parameters, vector_groups)
    matrices = _matrices(manifest["matrices"], shapes, _forms(manifest["schemes"]))
    for name in vector_groups:
        if name not in matrices:
            raise ModelFileError(f"manifest: matrices: {name!r} is missing, whose rows are vectors")
    sparse = sparse_from_json(manifest["sparse"], parameters, matrices) if "sparse" in manifest else ()
    tensors = _parameter_tensors(shapes, matrices, sparse)
    if isinstance(quantization, StoredStaticActivations):
        looked_up = architecture.lookup_matrices | vector_groups.keys()
        tensors |= {activation_scale_name(name): ("F32", (1,)) for name in matrices if name not in looked_up}
    ranges = activation_ranges_from_json(manifest["activations"]) if "activations" in manifest else None
    if ranges is not None:
        tensors |= _range_tensors(ranges, architecture)
        if quantization is not None:
            raise ModelFileError("manifest: products and activations both say how activations are quantized")
    size = architecture.vocabulary_size
    return CheckedManifest(
        architecture=architecture,
        languages=languages,
        language_pieces=_language_pieces(manifest["language_pieces"]) if "language_pieces" in manifest else None,
        vocabularies=vocabularies_from_json(manifest, architecture),
        matrices=matrices,
        vector_groups=vector_groups,
        sparse=sparse,
        tensors=tensors,
        entropy_coded="coding" in manifest,
        activation_quantization=quantization,
        activation_ranges=ranges,
        shortlist=shortlist_from_json(manifest["shortlist"], size) if "shortlist" in manifest else None,
        known_words=known_words_from_json(manifest[KNOWN_WORDS]) if KNOWN_WORDS in manifest else None,
        unit=_unit(manifest.get("unit", DEFAULT_UNIT)),
    )


def _check_version_and_members(manifest: Mapping[str, object]) -> None:
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"manifest: format_version is {version!r:.40}, expected a whole number of at least 1")
    if version > FORMAT_VERSION:
        raise NewerFileError(f"manifest: format version {version}, this PocketMT reads up to {FORMAT_VERSION}")
    check_members(manifest, ("format_version", *_MEMBERS), "manifest", _OPTIONAL)
    if manifest.get("coding", CODING) != CODING:
        raise NewerFileError(f"manifest: coding {manifest['coding']!r:.40} is unknown here (known: {CODING!r})")


def _languages(value: object) -> tuple[str, str]:
    assert isinstance(value, dict)
    check_members(value, ("source", "target"), "manifest: languages")
    source, target = value["source"], value["target"]
    if not isinstance(source, str) or not isinstance(target, str):
        raise ModelFileError("manifest: languages: source and target are not strings")
    return source, target


def _language_pieces(value: object) -> "LanguagePieces":
    from pocketmt.model_file.language_pieces import language_pieces_from_json

    return language_pieces_from_json(value)


def _unit(value: object) -> str:
    if not isinstance(value, str):
        raise ModelFileError(f"manifest: unit is {value!r:.40}, expected a string")
    if value not in UNITS:
        raise NewerFileError(f"manifest: unit {value!r:.40} is unknown here (known: {', '.join(UNITS)})")
    return value


def _forms(value: object) -> list[StoredForm]:
    assert isinstance(value, list)
    return [form_from_json(entry, f"manifest: schemes[{index}]") for index, entry in enumerate(value)]


def _matrices(
    value: object, shapes: dict[str, tuple[int, ...]], forms: list[StoredForm]
) -> dict[str, tuple[StoredRowGroup, ...]]:
    assert isinstance(value, dict)
    matrices = {}
    for name, groups in value.items():
        where = f"manifest: matrices: {name!r:.120}"
        shape = shapes.get(name, ())
        if len(shape) != 2:
            raise ModelFileError(f"{where} is not a matrix of this architecture")
        if not isinstance(groups, list) or not 1 <= len(groups) <= MAXIMUM_ROW_GROUPS:
            raise ModelFileError(f"{where}: expected a list of 1 to {MAXIMUM_ROW_GROUPS} row groups")
        matrices[name] = tuple(_row_group(group, forms, shape[1], where) for group in groups)
        if (rows := sum(group.rows for group in matrices[name])) != shape[0]:
            raise ModelFileError(f"{where}: its row groups have {rows} rows together, the matrix has {shape[0]}")
    return matrices


def _row_group(value: object, forms: list[StoredForm], columns: int, where: str) -> StoredRowGroup:
    if not isinstance(value, list) or len(value) != 2 or not all(type(member) is int for member in value):
        raise ModelFileError(f"{where}: a row group is [scheme index, row count], not {value!r:.80}")
    index, rows = value
    if not 0 <= index < len(forms):
        raise ModelFileError(f"{where}: there is no scheme {index!r:.40}, the manifest has {len(forms)}")
    if rows < 1:
        raise ModelFileError(f"{where}: a row group has {rows!r:.40} rows, expected at least 1")
    return StoredRowGroup(forms[index], rows, columns)


def _parameter_tensors(
    shapes: dict[str, tuple[int, ...]], matrices: dict[str, tuple[StoredRowGroup, ...]], sparse: tuple[str, ...]
) -> dict[str, TensorLayout]:
    layouts: dict[str, TensorLayout] = {}
    for name, shape in shapes.items():
        if name in matrices:
            for index, group in enumerate(matrices[name]):
                for suffix, layout in group.tensors().items():
                    layouts[f"{name}.{index}.{suffix}"] = layout
        elif name in sparse:
            layouts[kept_name(name)] = kept_layout(*shape)
        else:
            layouts[name] = ("F32", shape)
    return layouts


def _range_tensors(ranges: StoredActivationRanges, architecture: Architecture) -> dict[str, TensorLayout]:
    if not architecture.supports_quantized_activations:
        raise ModelFileError(
            "manifest: activations: a Transformer alone has such ranges, with a decoder of self-attention, no tied "
            "layers, as many heads in each layer, and no field at another value than its default"
        )
    return ranges.tensors(architecture)
