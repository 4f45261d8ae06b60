"""Reading a Marian model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import ForeignTensor, of_vector, stacked, transposed
from pocketmt.interop.marian.description import MarianNetwork, activations_of, describe
from pocketmt.interop.marian.files import find_files, named_files
from pocketmt.interop.marian.model_yml import read_model_yml
from pocketmt.interop.marian.names import Place, place
from pocketmt.interop.marian.npz_file import read_npz
from pocketmt.interop.marian.search_settings import note_on_shortlist, notes_on_settings
from pocketmt.interop.marian.vocabularies import notes_on_languages, read_vocabularies
from pocketmt.interop.opus_codes import opus_languages
from pocketmt.model_file.metadata import ModelMetadata

OUTPUT: Final = "decoder_ff_logit_out_Wt"
LEGACY_OUTPUT: Final = "decoder_ff_logit_out_W"


def read_model(path: Path) -> ForeignModel:
    """Read a folder or an .npz file; raises InteropError naming the file, key or tensor that is damaged or unknown."""
    files = find_files(path)
    vocabularies, facts = read_vocabularies(files)
    tensors, content = read_npz(files.weights)
    folder = files.weights.parent
    settings = named_files(folder, files.weights)
    notes = *notes_on_settings(folder, settings), *note_on_shortlist(settings), *_notes_on_scripts(folder)
    try:
        configuration = read_model_yml(content)
        activations, notes_on_version = activations_of(configuration)
        network = describe(configuration, facts, activations)
        return ForeignModel(
            architecture=network.architecture,
            tensors=network_tensors(tensors, network),
            vocabularies=vocabularies,
            metadata=ModelMetadata(
                # Marian's own SentencePiece models have no table.
                language_pieces=opus_languages(vocabularies.source.pieces or ()),
                training={"imported_from": "Marian"},
            ),
            notes=(*network.notes, *notes_on_version, *notes_on_languages(vocabularies.source), *notes),
        )
    except (ConfigurationError, InteropError) as error:
        raise InteropError(f"{files.weights}: {error}") from error


def _notes_on_scripts(folder: Path) -> list[str]:
    found = [name for name in ("preprocess.sh", "postprocess.sh") if (folder / name).is_file()]
    return [f"{name} is not run: text may need what it does" for name in found]


def network_tensors(tensors: Mapping[str, ForeignTensor], network: MarianNetwork) -> dict[str, ForeignTensor]:
    """Return every parameter by our name; InteropError if one is missing, of another shape, or none of the network."""
    named = dict(tensors)
    if LEGACY_OUTPUT in named and OUTPUT not in named and len(named[LEGACY_OUTPUT].shape) == 2:
        named[OUTPUT] = transposed(named.pop(LEGACY_OUTPUT))
    taken: set[str] = set()
    found = {}
    for name, shape in network.architecture.parameter_shapes().items():
        where = place(name, network)
        found[name] = stacked(*(_part(named, each, where, shape) for each in where.names))
        taken.update(where.names)
    if unknown := sorted(named.keys() - taken):
        raise InteropError(f"has the tensor {unknown[0]!r:.120}, which PocketMT has no place for")
    return found


def _part(named: Mapping[str, ForeignTensor], name: str, where: Place, shape: tuple[int, ...]) -> ForeignTensor:
    if name not in named:
        raise InteropError(f"has no tensor {name}")
    tensor = named[name]
    rows = shape[0] // len(where.names)
    expected = {"rows": shape, "matrix": (*shape[1:], rows), "vector": (1, rows)}[where.form]
    if tensor.shape != expected and not (where.form == "vector" and tensor.shape == (rows,)):
        raise InteropError(f"tensor {name} is {list(tensor.shape)}, the configuration says {list(expected)}")
    if where.form == "vector":
        return of_vector(tensor)
    return transposed(tensor) if where.form == "matrix" else tensor
