"""Importing: a model of another toolkit becomes a model file, tensor by tensor."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

from pocketmt.atomic_file import check_not_read
from pocketmt.errors import ConfigurationError, DataError, InteropError, ModelFileError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.formats import read_foreign
from pocketmt.interop.named_errors import with_path
from pocketmt.interop.stored_parameters import StoredParameters
from pocketmt.model_file.container.xz_tensor import compress
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR
from pocketmt.model_file.shortlist_encoding import encode_shortlist
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.model_file.writer import StoredTensor, check_model_output, write_model
from pocketmt.text.language_tags import find_language, why_unknown
from pocketmt.text.languages import check_language


def import_model(
    source: Path,
    output: str | os.PathLike[str],
    *,
    source_language: str = "",
    target_language: str = "",
    licence: str = "",
    description: str = "",
    change: Callable[[ForeignModel], ForeignModel] = lambda model: model,
) -> ForeignModel:
    """Write a model file with the weights of a foreign model, in the precision that it has.

    Memory holds a few blocks of one tensor, never the whole model.

    Args:
        source: folder or file of a format of `pocketmt.interop.formats`.
        output: the model file to write; it appears when it is complete and checked.
        source_language, target_language, licence, description: what the model says is replaced; "": it is kept. Of a
            model that has several languages, any code of one will do: de for deu_Latn.
        change: returns the model that is written, from the one that was read.

    Returns:
        The model that was written.

    Raises:
        InteropError: as `read_foreign` does, or a tensor is missing, unknown, of another shape or not finite.
        ConfigurationError: the output is a file of the source, the model does not have a language, or a
            code is not a language code.
        ConfigurationError, ModelFileError: as `write_model` does.
    """
    check_not_read([Path(output)], _files_of(source))
    check_model_output(Path(output))
    model = read_foreign(source)
    said = model.metadata
    pieces = said.language_pieces
    sources, targets = ([*pieces.source], [*pieces.target]) if pieces is not None else ([], [])
    metadata = dataclasses.replace(
        said,
        source_language=_language("source", source_language, said.source_language, sources),
        target_language=_language("target", target_language, said.target_language, targets),
        licence=licence or said.licence,
        description=description or said.description,
    )
    model = change(dataclasses.replace(model, metadata=metadata))
    try:
        write_foreign(model, output)
    except InteropError as error:
        raise with_path(source, error) from error
    return model


def _files_of(source: Path) -> list[Path]:
    """Return the files that a model may have: all that lie beside it, but for model files."""
    folder = source if source.is_dir() else source.parent
    beside = (
        [path for path in folder.iterdir() if path.is_file() and path.suffix != ".pocketmt"] if folder.is_dir() else []
    )
    return [source, *beside]


def _language(side: str, given: str, said: str, known: list[str]) -> str:
    """Return the language that a model file names: the one that is given, the only one, or what the model says.

    Args:
        side: "source" or "target".
        given: code of the language; "": none is given.
        said: by the model.
        known: codes of the languages of a model that has pieces for them.

    Raises ConfigurationError if the code is not a language code, or the model does not have the language.
    """
    if not given:
        return known[0] if len(known) == 1 else said
    if not known:
        if given != said:
            check_language(given, f"the {side} language")
        return given
    found = find_language(given, known)
    if found is not None:
        return found
    raise ConfigurationError(f"the {side} language is {given!r:.80}, {why_unknown(given, known)}")


def write_foreign(model: ForeignModel, output: str | os.PathLike[str]) -> int:
    """Write a model file; returns its size in bytes, and raises as `import_model` does."""
    _check_tensors(model)
    _check_vocabularies(model)
    stored = StoredParameters()
    for name in model.architecture.parameter_shapes():
        stored.add(name, model.tensors[name])
    if model.activation_scales is not None:
        stored.add_activation_scales(model.activation_scales)
    if model.shortlist is not None:
        content, entry = encode_shortlist(model.shortlist)
        compressed = compress(content)
        stored.members["shortlist"] = entry.to_json()
        stored.tensors[SHORTLIST_TENSOR] = StoredTensor("U8", (len(compressed),), compressed)
    manifest = model.metadata.manifest_members(model.architecture, model.vocabularies)
    return write_model(output, manifest | stored.members, stored.tensors, model.vocabularies)


def _check_tensors(model: ForeignModel) -> None:
    shapes = model.architecture.parameter_shapes()
    for name, shape in shapes.items():
        if name not in model.tensors:
            raise InteropError(f"the model has no tensor for {name}")
        if model.tensors[name].shape != shape:
            raise InteropError(
                f"the tensor for {name} is {list(model.tensors[name].shape)}, the architecture says {list(shape)}"
            )
    if unknown := sorted(model.tensors.keys() - shapes.keys()):
        raise InteropError(f"the architecture has no place for {unknown[0]}")


def _check_vocabularies(model: ForeignModel) -> None:
    try:
        load_checked(model.vocabularies, model.architecture)
    except (DataError, ModelFileError) as error:
        raise InteropError(f"the vocabulary does not fit the model: {error}") from error
