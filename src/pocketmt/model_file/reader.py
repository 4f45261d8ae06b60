"""Reading a model file: it is memory-mapped and checked before use, and nothing in it is executed."""

import math
import mmap
import os
import shlex
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Final, Self

from pocketmt.errors import ModelFileError
from pocketmt.model_file.activations.activation_quantization import (
    StoredActivationQuantization,
    StoredStaticActivations,
    activation_scale_name,
    check_activation_scale,
)
from pocketmt.model_file.activations.activation_ranges import StoredActivationRanges, check_ranges, ranges_name
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.container.file_compression import decompress as decompress_file
from pocketmt.model_file.container.file_compression import is_compressed
from pocketmt.model_file.container.header import Header, TensorEntry, header_bytes, parse_header
from pocketmt.model_file.container.mapped_pages import release_pages
from pocketmt.model_file.container.strict_json import parse_object
from pocketmt.model_file.errors import NewerFileError
from pocketmt.model_file.file_checks import check_digest as check_file_digest
from pocketmt.model_file.file_checks import check_tensors, coded_tensors
from pocketmt.model_file.known_words import KNOWN_WORDS
from pocketmt.model_file.manifest import CheckedManifest, check_manifest
from pocketmt.model_file.matrices.entropy_coding import coded_name, decode
from pocketmt.model_file.matrices.group_checks import check_codes, check_group
from pocketmt.model_file.matrices.grouped_vectors import VectorGroups
from pocketmt.model_file.matrices.row_groups import StoredRowGroup, group_of_row
from pocketmt.model_file.matrices.sparse import check_kept, expand, kept_name, weights_name
from pocketmt.model_file.matrices.stored_form import TensorLayout
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR, CompressedShortlist, StoredShortlist, read_shortlist
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.stored_vocabulary import StoredVocabularies
from pocketmt.text.word_filter import WordFilter

if TYPE_CHECKING:  # SentencePiece is loaded when a vocabulary is; few models have several languages.
    from pocketmt.model_file.language_pieces import LanguagePieces
    from pocketmt.text.vocabulary import Vocabularies

_OF_A_RUN: Final = ("configuration.json", "vocabulary.model")  # files in the folder of a training run
DAMAGED: Final = "Copy or download the file again, or pack it again"


class ModelFile:
    """An open model file whose header, manifest, sizes and scales were checked.

    Attributes:
        architecture: of the network.
        source_language, target_language: as the manifest names them, e.g. "en" and "de".
        language_pieces: languages that are chosen for each translation; None: there is one on each side.
        unit: what the model translates at once, one of `pocketmt.model_file.manifest.UNITS`.
        manifest: the whole manifest, as JSON values.
        matrices: quantized matrix -> its row groups, including vector groups; other matrices are plain F32 tensors.
        vector_groups: vector group -> the vectors that are its rows; other vectors are plain F32 tensors.
        tensors: name -> its place in the file, without padding.
        sparse: fp32 matrix that the file holds without its zeros -> its shape; `data` inserts the zeros.
        activation_quantization: of the inputs of quantized matrices; None: dynamic, 8 bits with a scale for each row.
        activation_ranges: operations that are quantized within trained ranges; None: none are.
        vocabulary_tensors: names of the tensors with SentencePiece models and id tables.
        stored_shortlist: the manifest's entry of the lexical shortlist; None: the file has none.
        coded: entropy-coded tensor -> its row group; `tensors` has it by its `coded_name`.
        buffer: the whole file, mapped or decompressed, read-only; it may be used until close.
        file_bytes: size of the file on the disk.
    """

    def __init__(
        self,
        buffer: memoryview,
        file_bytes: int,
        header: Header,
        manifest: dict[str, object],
        checked: CheckedManifest,
    ) -> None:
        self.architecture: Architecture = checked.architecture
        self.source_language, self.target_language = checked.languages
        self.language_pieces: LanguagePieces | None = checked.language_pieces
        self.unit: str = checked.unit
        self.manifest: dict[str, object] = manifest
        self.matrices: dict[str, tuple[StoredRowGroup, ...]] = checked.matrices
        self.vector_groups: VectorGroups = checked.vector_groups
        shapes = checked.architecture.parameter_shapes()
        self.sparse: Mapping[str, tuple[int, ...]] = {name: shapes[name] for name in checked.sparse}
        self.activation_quantization: StoredActivationQuantization | None = checked.activation_quantization
        self.activation_ranges: StoredActivationRanges | None = checked.activation_ranges
        self.stored_shortlist: StoredShortlist | None = checked.shortlist
        self.tensors: Mapping[str, TensorEntry] = MappingProxyType(header.tensors)
        self.coded: Mapping[str, StoredRowGroup] = MappingProxyType(coded_tensors(header, checked))
        self.buffer: memoryview = buffer
        self.file_bytes = file_bytes
        self._header = header
        self.vocabulary_tensors: tuple[str, ...] = checked.vocabularies.tensors
        self._vocabularies = checked.vocabularies
        self._known_words_hashes = checked.known_words

    def check_digest(self, release: Callable[[int, int], None] | None = None) -> None:
        """Hash the whole file and compare with its digest; `open_model` does so unless told not to.

        Args:
            release: is given offset and size of each part of `buffer` that was read.

        Raises:
            ModelFileError: they differ.
        """
        check_file_digest(self.buffer, header_bytes(self.buffer), self._header, release)

    def data(self, name: str) -> memoryview:
        """Return the bytes of a tensor without copying; those in `coded` or `sparse` are decoded at each call.

        Raises ModelFileError if they cannot be decoded, or codes have values that the engine cannot use.
        """
        if name in self.coded:
            group = self.coded[name]
            decoded = decode(coded_name(name), self.data(coded_name(name)), group)
            check_codes(name, group, group.form.code_tensor, decoded)
            return decoded
        if name in self.sparse:
            return expand(self.sparse[name], self.data(kept_name(name)), self.data(weights_name(name)))
        entry = self.tensors[name]
        return self.buffer[entry.offset : entry.offset + entry.size]

    def layout(self, name: str) -> TensorLayout:
        """Return dtype and shape of the result of `data`."""
        if name in self.coded:
            group = self.coded[name]
            return group.form.code_layout(group.rows, group.columns)
        if name in self.sparse:
            return "F32", self.sparse[name]
        return self.tensors[name].dtype, self.tensors[name].shape

    def group_of_row(self, matrix: str) -> bytes | None:
        """Return one byte for each row of a quantized matrix, the index of its row group.

        Rows keep their order in a group. None: groups are consecutive rows.
        """
        name = f"{matrix}.groups"
        return group_of_row(matrix, self.matrices[matrix], self.data(name)) if name in self.tensors else None

    def vocabulary(self) -> bytes:
        """Return the source's serialized SentencePiece model; raises as `stored_vocabularies` does."""
        return self.stored_vocabularies().source.model

    def stored_vocabularies(self) -> StoredVocabularies:
        """Return what the vocabularies are made from.

        Raises ModelFileError if a tensor cannot be decompressed, or does not hold what the manifest states.
        """
        return self._vocabularies.read({name: self.data(name) for name in self.vocabulary_tensors})

    def vocabularies(self) -> "Vocabularies":
        """Return the vocabularies, ready for use; raises as `stored_vocabularies` and `load_checked` do."""
        return load_checked(self.stored_vocabularies(), self.architecture)

    def shortlist(self) -> bytes | None:
        """Return the shortlist as the engine reads it; None if the file has none.

        Raises ModelFileError if it cannot be decompressed, or does not have the size that its counts state.
        """
        if self.stored_shortlist is None:
            return None
        sizes = self.architecture.source_size, self.architecture.vocabulary_size
        return read_shortlist(self.data(SHORTLIST_TENSOR), self.stored_shortlist, *sizes)

    def compressed_shortlist(self) -> CompressedShortlist | None:
        """Return the shortlist as it is stored, for another file with the same vocabularies; None if there is none."""
        if self.stored_shortlist is None:
            return None
        return CompressedShortlist(self.stored_shortlist, bytes(self.data(SHORTLIST_TENSOR)))

    def known_words(self) -> WordFilter | None:
        """Return the words that the model translates, in lower case; None if the file has none."""
        if self._known_words_hashes is None:
            return None
        return WordFilter(bytes(self.data(KNOWN_WORDS)), self._known_words_hashes)

    def close(self) -> None:
        """Release the file; the memory stays mapped while a view of it exists."""
        with suppress(BufferError):
            self.buffer.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_model(path: str | os.PathLike[str], *, check_digest: bool = True) -> ModelFile:
    """Open a model file and check it, except for values of fp32 matrices, entropy-coded codes and xz streams.

    Args:
        path: of a regular file.
        check_digest: hash the whole file and compare with its digest; without it, damaged codes are not noticed.

    Raises:
        ModelFileError: with what is wrong, where, and what to do.
    """
    buffer = _map(path)
    try:
        return _check(buffer, check_digest)
    except ModelFileError as error:
        buffer.release()
        remedy = "Install a newer PocketMT" if isinstance(error, NewerFileError) else DAMAGED
        raise ModelFileError(f"{path!s}: {error}. {remedy}") from error


def _map(path: str | os.PathLike[str]) -> memoryview:
    try:
        # O_NONBLOCK: opening a FIFO must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelFileError(f"{path!s}: cannot be opened: {reason}. Check the path") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(_not_a_file(path))
        if status.st_size == 0:
            raise ModelFileError(f"{path!s}: empty. {DAMAGED}")
        return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path!s}: cannot be mapped into memory: {error}. Check the disk") from error
    finally:
        os.close(descriptor)


def _not_a_file(path: str | os.PathLike[str]) -> str:
    """Return the message for a path that is no regular file, such as the folder of a training run."""
    if all(os.path.isfile(os.path.join(path, name)) for name in _OF_A_RUN):
        made = f"make a model file of it with `pocketmt pack {shlex.quote(str(path))} --output NAME.pocketmt`"
        return f"{path!s} is the folder of a training run: {made}"
    advice = "give the path of a *.pocketmt file; `pocketmt import` makes one of a model of other software"
    return f"{path!s}: not a regular file: {advice}"


def _check(file: memoryview, check_digest: bool) -> ModelFile:
    buffer = decompress_file(file) if is_compressed(file) else file
    raw = header_bytes(buffer)
    header = parse_header(raw, len(buffer))
    if set(header.metadata) != {"pocketmt", "digest"}:
        raise ModelFileError("__metadata__ must hold exactly 'pocketmt' and 'digest': not a model file")
    if check_digest:
        check_file_digest(buffer, raw, header, partial(release_pages, buffer))
    manifest = parse_object(header.metadata["pocketmt"], "the manifest")
    checked = check_manifest(manifest)
    check_tensors(header, checked)
    model = ModelFile(buffer, len(file), header, manifest, checked)
    _check_values(model)
    return model


def _check_values(model: ModelFile) -> None:
    """Raise ModelFileError for values that the engine cannot use, in all tensors but fp32 matrices and coded ones.

    The engine checks the weights of fp32 matrices when it packs them, `ModelFile.data` entropy-coded codes when it
    decodes them.
    """
    for name, groups in model.matrices.items():
        for index, group in enumerate(groups):
            check_group(f"{name}.{index}", group, model.data, model.coded)
        model.group_of_row(name)
    for name, shape in model.sparse.items():
        check_kept(name, shape, model.data(kept_name(name)), model.tensors[weights_name(name)].shape[0])
    for operation in () if model.activation_ranges is None else model.activation_ranges.operations:
        name = ranges_name(operation)
        check_ranges(operation, model.tensors[name].shape, model.data(name))
    if isinstance(model.activation_quantization, StoredStaticActivations):
        looked_up = model.architecture.lookup_matrices | model.vector_groups.keys()
        for name in (each for each in model.matrices if each not in looked_up):
            check_activation_scale(name, model.data(activation_scale_name(name)))
    for name, entry in model.tensors.items():
        if entry.dtype == "F32" and len(entry.shape) == 1 and not math.isfinite(sum(model.data(name).cast("f"))):
            raise ModelFileError(f"tensor {name!r} holds a value that is not finite")
