"""Writing a model file atomically."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.atomic_file import atomic_write
from pocketmt.errors import ModelFileError
from pocketmt.model_file.container.file_compression import compress as compress_file
from pocketmt.model_file.container.header import ALIGNMENT, LENGTH_BYTES
from pocketmt.model_file.file_checks import DIGEST_CHARACTERS
from pocketmt.model_file.reader import open_model
from pocketmt.model_file.vocabularies import vocabulary_tensors
from pocketmt.text.stored_vocabulary import StoredVocabularies, stored_vocabularies

NO_DIGEST: Final = "0" * DIGEST_CHARACTERS


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of the file: dtype ("F32", "BF16", "I8", "U8"), shape, little-endian row-major bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


class OversizedError(ModelFileError):
    """Raised when a model file would have `size` bytes, more than its maximum."""

    def __init__(self, message: str, size: int) -> None:
        """Keep the size with the message."""
        super().__init__(message)
        self.size = size


def write_model(
    path: str | os.PathLike[str],
    manifest: Mapping[str, object],
    tensors: Mapping[str, StoredTensor],
    vocabulary: bytes | StoredVocabularies,
    maximum_size: int | None = None,
) -> int:
    """Write a model file; an older one is replaced when the new one is complete, checked and on the disk.

    Args:
        path: to write to; its folder must exist and have room for a second copy.
        manifest: the whole manifest (docs/reference/model-file.md). With `coding`, a file is compressed if that makes
            it smaller.
        tensors: parameters and codes, in the order of the file.
        vocabulary: the vocabularies; or one serialized SentencePiece model, which source and target share.
        maximum_size: most bytes of the file; None: no limit.

    Returns:
        The file's size in bytes.

    Raises:
        ConfigurationError: as `check_output` does.
        ModelFileError: the path is a device or a pipe, the disk refuses, or a reader would refuse the file; an older
            file is unchanged.
        OversizedError: the file is larger than its maximum; an older file is unchanged.
    """
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise ModelFileError(f"{target} is no regular file: a model file is read back before it is kept; name another")
    rows = vocabulary_tensors(stored_vocabularies(vocabulary))
    stored = {**tensors, **{name: StoredTensor("U8", (len(row),), row) for name, row in rows.items()}}
    try:
        with atomic_write(target) as stream:
            pieces = _pieces(manifest, stored)
            stream.writelines([compress_file(b"".join(pieces))] if "coding" in manifest else pieces)
            size = stream.tell()
            if maximum_size is not None and size > maximum_size:
                raise OversizedError(f"the model file has {size:,} bytes, more than {maximum_size:,}", size)
            stream.flush()
            _check_readable(Path(stream.name), target)
    except OSError as error:
        raise ModelFileError(
            f"{target}: cannot be written: {error.strerror or error}. Nothing was changed; "
            "free some space, or choose another folder"
        ) from error
    return size


def _check_readable(temporary: Path, target: Path) -> None:
    try:
        open_model(temporary).close()
    except ModelFileError as error:
        raise ModelFileError(f"{target}: not written, since no reader would take it: {error.__cause__}") from error


def _pieces(manifest: Mapping[str, object], tensors: Mapping[str, StoredTensor]) -> list[bytes]:
    """Return the whole file, with its digest, as pieces in order."""
    entries: dict[str, object] = {}
    data: list[bytes] = []
    offset = 0
    for index, (name, tensor) in enumerate(tensors.items()):
        entries[name] = _entry(tensor.dtype, tensor.shape, offset, len(tensor.data))
        data.append(tensor.data)
        offset += len(tensor.data)
        gap = -offset % ALIGNMENT
        if gap and index < len(tensors) - 1:
            entries[f"padding.{index}"] = _entry("U8", (gap,), offset, gap)
            data.append(bytes(gap))
            offset += gap
    text = _compact(manifest)
    state = hashlib.sha256()
    for piece in _with_header(text, NO_DIGEST, entries, data):
        state.update(piece)
    return _with_header(text, state.hexdigest(), entries, data)


def _with_header(manifest: str, digest: str, entries: Mapping[str, object], data: list[bytes]) -> list[bytes]:
    header = _compact({"__metadata__": {"pocketmt": manifest, "digest": digest}, **entries}).encode()
    header += b" " * (-(LENGTH_BYTES + len(header)) % ALIGNMENT)
    return [len(header).to_bytes(LENGTH_BYTES, "little"), header, *data]


def _entry(dtype: str, shape: tuple[int, ...], offset: int, size: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}


def _compact(value: object) -> str:
    """Return JSON without spaces, as the header is part of the size of the file."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
