"""Reading a model file: memory-mapped, every promise checked before use, nothing executed."""

import hashlib
import math
import mmap
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType, TracebackType
from typing import Final, Self

from pocketmt.errors import ModelFileError
from pocketmt.model_file.activations import StoredActivations, check_ranges, ranges_name
from pocketmt.model_file.architecture import Architecture
from pocketmt.model_file.compression import decompress as decompress_file
from pocketmt.model_file.compression import is_compressed
from pocketmt.model_file.container import Header, TensorEntry, header_bytes, parse_header
from pocketmt.model_file.entropy_coding import CODED, coded_name, decode
from pocketmt.model_file.layout import MAXIMUM_GROUPED, RowGroup, TensorForm, groups_form
from pocketmt.model_file.manifest import VOCABULARY_TENSOR, Contents, check_manifest
from pocketmt.model_file.newer import NewerFileError
from pocketmt.model_file.products import Products, StaticProducts, activation_scale_name
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR, StoredShortlist, read_shortlist
from pocketmt.model_file.sparse import check_kept, expand, kept_name, weights_name
from pocketmt.model_file.strict_json import parse_object
from pocketmt.model_file.values import check_activation_scale, check_group, group_of_row
from pocketmt.model_file.vectors import Stacks
from pocketmt.model_file.xz import decompress

DAMAGED: Final = "Copy or download the file again, or pack it anew"
DIGEST_CHARACTERS: Final = 64
HASHED_AT_ONCE: Final = 1 << 20  # bytes


class ModelFile:
    """An open model file whose header, manifest, sizes and scales were checked.

    Attributes:
        architecture: of the network.
        source_language, target_language: as the manifest names them, e.g. "en" and "de".
        manifest: the whole manifest, as JSON values.
        matrices: quantized matrix -> its row groups; other matrices are plain F32 tensors. Stacks are among them.
        stacks: stack of quantized vectors -> the vectors that are its rows; other vectors are plain F32 tensors.
        tensors: name -> where it lies; padding is left out.
        sparse: fp32 matrix whose zeros the file leaves out -> its shape; `data` puts them in.
        products: how activations that meet quantized matrices are quantized; None: 8 bits, a scale a row.
        activations: which operations are quantized within ranges that the file holds; None: none are.
        stored_shortlist: the manifest's entry of the lexical shortlist; None: there is none.
        coded: tensor that the file holds entropy-coded -> its row group; `tensors` has it by its `coded_name`.
        buffer: the whole file, read-only: mapped, or what a compressed one holds; it may be used until close.
        file_bytes: of the file on the disk.
    """

    def __init__(
        self, buffer: memoryview, file_bytes: int, header: Header, manifest: dict[str, object], contents: Contents
    ) -> None:
        self.architecture: Architecture = contents.architecture
        self.source_language, self.target_language = contents.languages
        self.manifest: dict[str, object] = manifest
        self.matrices: dict[str, tuple[RowGroup, ...]] = contents.matrices
        self.stacks: Stacks = contents.stacks
        shapes = contents.architecture.parameter_shapes()
        self.sparse: Mapping[str, tuple[int, ...]] = {name: shapes[name] for name in contents.sparse}
        self.products: Products | StaticProducts | None = contents.products
        self.activations: StoredActivations | None = contents.activations
        self.stored_shortlist: StoredShortlist | None = contents.shortlist
        self.tensors: Mapping[str, TensorEntry] = MappingProxyType(header.tensors)
        self.coded: Mapping[str, RowGroup] = MappingProxyType(_coded(header, contents))
        self.buffer: memoryview = buffer
        self.file_bytes = file_bytes
        self._vocabulary_bytes = contents.vocabulary_bytes

    def data(self, name: str) -> memoryview:
        """Return the bytes of a tensor, without copying; of one in `coded` or `sparse`, decoded anew at each call.

        Raises ModelFileError where they cannot be decoded.
        """
        if name in self.coded:
            coded = coded_name(name)
            return decode(coded, self.data(coded), self.coded[name], name.rpartition(".")[2])
        if name in self.sparse:
            return expand(self.sparse[name], self.data(kept_name(name)), self.data(weights_name(name)))
        entry = self.tensors[name]
        return self.buffer[entry.offset : entry.offset + entry.size]

    def form(self, name: str) -> TensorForm:
        """Return dtype and shape of what `data` returns."""
        if name in self.coded:
            return self.coded[name].tensors()[name.rpartition(".")[2]]
        if name in self.sparse:
            return "F32", self.sparse[name]
        return self.tensors[name].dtype, self.tensors[name].shape

    def group_of_row(self, matrix: str) -> bytes | None:
        """Return one byte a row of a quantized matrix, the index of its row group; rows keep their order in a group.

        None where groups are runs of rows, one group after the other.
        """
        name = f"{matrix}.groups"
        return group_of_row(matrix, self.matrices[matrix], self.data(name)) if name in self.tensors else None

    def vocabulary(self) -> bytes:
        """Return the serialized SentencePiece model; raises ModelFileError where it cannot be decompressed."""
        return decompress(VOCABULARY_TENSOR, self.data(VOCABULARY_TENSOR), self._vocabulary_bytes)

    def shortlist(self) -> bytes | None:
        """Return the shortlist as the engine reads it, None where there is none.

        Raises ModelFileError where it cannot be decompressed, or is not of the size that its counts ask for.
        """
        if self.stored_shortlist is None:
            return None
        return read_shortlist(self.data(SHORTLIST_TENSOR), self.stored_shortlist, self.architecture.vocabulary_size)

    def close(self) -> None:
        """Let go of the file; the memory stays mapped while someone still holds a view of it."""
        with suppress(BufferError):
            self.buffer.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_model(path: str | os.PathLike[str], *, check_digest: bool = True) -> ModelFile:
    """Open a model file and check all of it but the values of fp32 matrices, and what is compressed by xz.

    Args:
        path: of a regular file.
        check_digest: hash the whole file and compare with its digest; without it damage to codes goes unseen.

    Raises:
        ModelFileError: saying what is wrong, where, and what to do.
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
            raise ModelFileError(f"{path!s}: not a regular file. Give the path of a *.pocketmt file")
        if status.st_size == 0:
            raise ModelFileError(f"{path!s}: empty. {DAMAGED}")
        return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path!s}: cannot be mapped into memory: {error}. Check the disk") from error
    finally:
        os.close(descriptor)


def _check(file: memoryview, check_digest: bool) -> ModelFile:
    buffer = decompress_file(file) if is_compressed(file) else file
    raw = header_bytes(buffer)
    header = parse_header(raw, len(buffer))
    if set(header.metadata) != {"pocketmt", "digest"}:
        raise ModelFileError("__metadata__ must hold exactly 'pocketmt' and 'digest': not a model file")
    if check_digest:
        _check_digest(buffer, raw, header)
    manifest = parse_object(header.metadata["pocketmt"], "the manifest")
    contents = check_manifest(manifest)
    _check_tensors(header, contents)
    model = ModelFile(buffer, len(file), header, manifest, contents)
    _check_values(model)
    return model


def _check_digest(buffer: memoryview, raw: memoryview, header: Header) -> None:
    digest = header.metadata["digest"].encode()
    text = bytes(raw)
    if len(digest) != DIGEST_CHARACTERS or text.count(digest) != 1:
        raise ModelFileError(f"the digest is not {DIGEST_CHARACTERS} characters that stand once in the header")
    start = header.data_start - len(raw) + text.index(digest)
    state = hashlib.sha256(buffer[:start])
    state.update(b"0" * DIGEST_CHARACTERS)
    for begin in range(start + DIGEST_CHARACTERS, len(buffer), HASHED_AT_ONCE):
        state.update(buffer[begin : begin + HASHED_AT_ONCE])
    if state.hexdigest().encode() != digest:
        raise ModelFileError("the digest does not match: the file was damaged or changed after it was written")


def _check_tensors(header: Header, contents: Contents) -> None:
    """The tensors are exactly those that architecture and matrices ask for, in dtype and shape."""
    expected = {**contents.tensors, **_group_tensors(header, contents)}
    of_any_size = {VOCABULARY_TENSOR: "U8"} | {weights_name(name): "F32" for name in contents.sparse}
    if contents.shortlist is not None:
        of_any_size[SHORTLIST_TENSOR] = "U8"
    for coded in _coded(header, contents):
        del expected[coded]
        of_any_size[coded_name(coded)] = "U8"
    for name, (dtype, shape) in expected.items():
        entry = header.tensors.get(name)
        if entry is None:
            raise ModelFileError(f"tensor {name!r} is missing")
        if (entry.dtype, entry.shape) != (dtype, shape):
            raise ModelFileError(
                f"tensor {name!r} is {entry.dtype} of shape {list(entry.shape)}, expected {dtype} of {list(shape)}"
            )
    for name, dtype in of_any_size.items():
        entry = header.tensors.get(name)
        if entry is None:
            raise ModelFileError(f"tensor {name!r} is missing")
        if entry.dtype != dtype or len(entry.shape) != 1:
            raise ModelFileError(f"tensor {name!r} is not a row of {dtype}")
    for name in header.tensors:
        if name not in expected and name not in of_any_size:
            raise ModelFileError(f"tensor {name!r:.120} is not part of this architecture")


def _coded(header: Header, contents: Contents) -> dict[str, RowGroup]:
    """Return the tensors of codes that are there coded, and not as they are."""
    found: dict[str, RowGroup] = {}
    if contents.coded:
        for matrix, groups in contents.matrices.items():
            for index, group in enumerate(groups):
                names = [f"{matrix}.{index}.{suffix}" for suffix in group.tensors() if suffix in CODED]
                found |= {name: group for name in names if coded_name(name) in header.tensors}
    return found


def _group_tensors(header: Header, contents: Contents) -> dict[str, TensorForm]:
    """Return the forms of the optional tensors that say each row's group, of those that are there."""
    forms = {}
    for matrix, groups in contents.matrices.items():
        if (name := f"{matrix}.groups") in header.tensors:
            if not 1 < len(groups) <= MAXIMUM_GROUPED:
                raise ModelFileError(f"tensor {name!r} is for 2 to {MAXIMUM_GROUPED} row groups, not for {len(groups)}")
            forms[name] = groups_form(len(groups), sum(group.rows for group in groups))
    return forms


def _check_values(model: ModelFile) -> None:
    """Parameters are finite, scales not negative, codes those of their scheme, ranges ranges, biases and norms finite.

    fp32 matrices are left to the engine, which looks at each weight once when it packs them.
    """
    for name, groups in model.matrices.items():
        for index, group in enumerate(groups):
            check_group(f"{name}.{index}", group, model.data)
        model.group_of_row(name)
    for name, shape in model.sparse.items():
        check_kept(name, shape, model.data(kept_name(name)), model.tensors[weights_name(name)].shape[0])
    for operation in () if model.activations is None else model.activations.operations:
        name = ranges_name(operation)
        check_ranges(operation, model.tensors[name].shape, model.data(name))
    if isinstance(model.products, StaticProducts):
        for name in (each for each in model.matrices if each not in model.stacks):
            check_activation_scale(activation_scale_name(name), model.data(activation_scale_name(name)))
    for name, entry in model.tensors.items():
        if entry.dtype == "F32" and len(entry.shape) == 1 and not math.isfinite(sum(model.data(name).cast("f"))):
            raise ModelFileError(f"tensor {name!r} holds a value that is not finite")
