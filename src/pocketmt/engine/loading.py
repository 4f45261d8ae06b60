"""Loading of model files: a native model and its vocabularies."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pocketmt.engine import _native
from pocketmt.engine.background_call import BackgroundCall
from pocketmt.engine.devices import NATIVE, MakeOptions, TranslationModel, load_on_device
from pocketmt.engine.languages import ModelLanguages
from pocketmt.errors import DataError, EngineError, ModelFileError
from pocketmt.model_file import ModelFile, open_model
from pocketmt.model_file.activations.activation_quantization import StoredLogarithmicActivations
from pocketmt.model_file.container.mapped_pages import release_pages
from pocketmt.model_file.matrices.entropy_coding import coded_name
from pocketmt.model_file.matrices.packed_bits import BYTE_BITS
from pocketmt.model_file.matrices.row_groups import StoredRowGroup
from pocketmt.model_file.matrices.sparse import weights_name
from pocketmt.model_file.reader import DAMAGED
from pocketmt.text.vocabulary import Vocabularies
from pocketmt.text.word_filter import WordFilter

# Bytes of a file from which on its digest is checked while weights are packed: hashing takes longer than a thread to
# start. Files that are compressed as a whole are smaller.
CHECKED_WHILE_PACKING: Final = 8 << 20


class LoadedModel(NamedTuple):
    """A model or an ensemble on its device, and what belongs to it."""

    model: TranslationModel
    make_options: MakeOptions
    vocabularies: Vocabularies
    languages: ModelLanguages
    known_words: WordFilter | None
    manifest: dict[str, object]


def load_model(
    path: Path,
    workers: int,
    pin_workers: bool,
    instruction_set: str | None,
    *,
    device: str = NATIVE,
    precision: str | None = None,
) -> LoadedModel:
    """Open a model file, and pack its weights or load them on a device.

    Raises:
        ModelFileError: the file is broken.
        EngineError: the CPU lacks the instruction set or cores to pin to, or a kernel fails its self-check; or as
            `load_on_device` does.
    """
    if device != NATIVE and (pin_workers or instruction_set is not None):
        raise EngineError(f"device {device!r} does not support pin_workers or instruction_set (native engine only)")
    if device == NATIVE and precision is not None:
        raise EngineError("precision applies only to PyTorch: omit it, or choose device 'cuda' or 'torch-cpu'")
    if not isinstance(instruction_set, str | None):
        raise TypeError(f"instruction_set must be a name or None, not {type(instruction_set).__name__}")
    large = _is_large(path)

    def load_weights() -> tuple[TranslationModel, MakeOptions]:
        if device == NATIVE:
            return native_model(file, workers, instruction_set, pin_workers), _native.SearchOptions
        return load_on_device(path, device, precision, workers)

    with _open(path, check_digest=not large) as file:
        try:
            if large:  # Hashing the file takes about as long as packing its weights.
                with BackgroundCall("digest", partial(file.check_digest, partial(release_pages, file.buffer))):
                    vocabularies = file.vocabularies()
                    model, make_options = load_weights()
            else:  # Importing SentencePiece takes about as long as packing the weights.
                with BackgroundCall("vocabularies", file.vocabularies) as reading:
                    model, make_options = load_weights()
                vocabularies = reading.result()
            defaults = file.source_language, file.target_language
            languages = ModelLanguages(defaults, file.language_pieces, vocabularies)
        except (DataError, ModelFileError) as error:
            raise ModelFileError(f"{os.fspath(path)}: {error}. {DAMAGED}") from error
        return LoadedModel(model, make_options, vocabularies, languages, file.known_words(), file.manifest)


def load_models(
    paths: Sequence[Path],
    workers: int,
    pin_workers: bool,
    instruction_set: str | None,
    *,
    device: str = NATIVE,
    precision: str | None = None,
) -> LoadedModel:
    """Load a model file, or several that translate together, with the manifest of the first.

    Raises EngineError if models cannot translate together, and as `load_model` does.
    """
    if len(paths) > 1:
        _check_together(paths)
    members = [
        load_model(path, workers, pin_workers, instruction_set, device=device, precision=precision) for path in paths
    ]
    first = members[0]
    if len(members) == 1:
        return first
    models = [member.model for member in members]
    return first._replace(model=first.model.ensemble(models, workers=workers, pin_workers=pin_workers))


def _check_together(paths: Sequence[Path]) -> None:
    """Raise EngineError, before weights are loaded, if models cannot translate together."""
    from pocketmt.model_file.ensemble import Common  # Few translations are by an ensemble.

    first: Common | None = None
    for path in paths:
        with _open(path, check_digest=False) as file:
            languages = file.source_language, file.target_language
            try:
                vocabularies = file.stored_vocabularies()
            except ModelFileError as error:
                raise ModelFileError(f"{os.fspath(path)}: {error}. {DAMAGED}") from error
            common = Common(vocabularies, languages, file.language_pieces, file.unit, file.architecture)
        first = first or common
        if found := common.difference(first, str(paths[0])):
            raise EngineError(f"{path}: {found}: models that translate together need the same")


def _open(path: str | os.PathLike[str], *, check_digest: bool) -> ModelFile:
    try:
        return open_model(path, check_digest=check_digest)
    except ModelFileError:
        if not check_digest:
            open_model(path).close()  # Of two errors, that of the digest says more.
        raise


def _is_large(path: str | os.PathLike[str]) -> bool:
    try:
        return os.stat(path).st_size >= CHECKED_WHILE_PACKING
    except (OSError, ValueError):  # Opening the file raises an error that says more.
        return False


def native_model(
    file: ModelFile, workers: int = 1, instruction_set: str | None = None, pin_workers: bool = False
) -> _native.Model:
    """Pack the weights of an open model file; raises ModelFileError and EngineError."""
    release = partial(release_pages, file.buffer)
    release(0, len(file.buffer))  # makes room for packed weights: pages were mapped by checking
    quantization = file.activation_quantization
    deflated = [name for name, group in file.coded.items() if _is_plain_deflate(group)]
    decoded = {*file.coded, *file.sparse}.difference(deflated)
    return _native.Model(
        buffer=file.buffer,
        architecture=file.architecture.fields(),
        tensors=_tensors(file),
        decoders={name: partial(file.data, name) for name in decoded},
        deflated=deflated,
        matrices={name: [group.for_engine() for group in groups] for name, groups in file.matrices.items()},
        vector_groups=list(file.vector_groups.items()),
        logarithmic_activations=(
            (quantization.top, quantization.scale) if isinstance(quantization, StoredLogarithmicActivations) else None
        ),
        release=release,
        instruction_set=instruction_set,
        workers=workers,
        pin_workers=pin_workers,
        activation_bits=0 if file.activation_ranges is None else file.activation_ranges.bits,
        shortlist=file.shortlist(),
        frequent_pieces=0 if file.stored_shortlist is None else file.stored_shortlist.frequent,
    )


def _is_plain_deflate(group: StoredRowGroup) -> bool:
    """Tell whether the engine can decode a stream: to codes as it reads them, without unused bits to be checked."""
    return group.form.streams_unchanged and group.columns * group.form.packed_bits % BYTE_BITS == 0


def _tensors(file: ModelFile) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """Return (dtype, shape, offset, size) of each tensor: of a coded or sparse one, dtype and shape are decoded."""
    places = {name: (entry.dtype, entry.shape, entry.offset, entry.size) for name, entry in file.tensors.items()}
    for name in file.coded:
        _, _, offset, size = places.pop(coded_name(name))
        places[name] = (*file.layout(name), offset, size)
    for name in file.sparse:
        _, _, offset, size = places.pop(weights_name(name))
        places[name] = (*file.layout(name), offset, size)
    return places
