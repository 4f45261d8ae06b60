"""Writing a model file: whole or not at all."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.compression import compress as compress_file
from pocketmt.model_file.container import ALIGNMENT, LENGTH_BYTES
from pocketmt.model_file.manifest import VOCABULARY_TENSOR
from pocketmt.model_file.reader import DIGEST_CHARACTERS, open_model
from pocketmt.model_file.xz import compress

NO_DIGEST: Final = "0" * DIGEST_CHARACTERS


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor as the file holds it: dtype ("F32", "BF16", "I8", "U8"), shape, little-endian row-major bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


def write_model(
    path: str | os.PathLike[str],
    manifest: Mapping[str, object],
    tensors: Mapping[str, StoredTensor],
    vocabulary: bytes,
) -> int:
    """Write a model file, replacing an older one only when the new one is complete, checked and on the disk.

    Args:
        path: to write to; its folder must exist and have room for a second copy.
        manifest: all of it (docs/model-file.md). With `coding` the file is compressed as a whole where that helps.
        tensors: parameters and codes, in the order in which they shall lie in the file.
        vocabulary: the serialized SentencePiece model.

    Returns:
        The file's size in bytes.

    Raises:
        ModelFileError: where the file cannot be written, or a reader would refuse it; the old file is untouched then.
    """
    target = Path(path)
    compressed = compress(vocabulary)
    stored = {**tensors, VOCABULARY_TENSOR: StoredTensor("U8", (len(compressed),), compressed)}
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.partial")
    try:
        pieces = _pieces(manifest, stored)
        _write_whole(temporary, [compress_file(b"".join(pieces))] if "coding" in manifest else pieces)
        size = temporary.stat().st_size
        _check_readable(temporary, target)
        os.replace(temporary, target)
        _synchronize_folder(target.parent)
    except OSError as error:
        raise ModelFileError(
            f"{target}: cannot be written: {error.strerror or error}. Nothing was changed; "
            "free some space, or choose another folder"
        ) from error
    finally:  # also after Ctrl-C
        with suppress(OSError):
            temporary.unlink()
    return size


def _check_readable(temporary: Path, target: Path) -> None:
    try:
        open_model(temporary).close()
    except ModelFileError as error:
        raise ModelFileError(f"{target}: not written, since no reader would take it: {error.__cause__}") from error


def _pieces(manifest: Mapping[str, object], tensors: Mapping[str, StoredTensor]) -> list[bytes]:
    """Return the whole file as pieces, in order; the digest is in place."""
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
    """JSON without spaces: the header counts towards the size that is compared."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    with open(path, "xb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _synchronize_folder(folder: Path) -> None:
    """Make the rename itself durable; some file systems refuse to sync a folder, and lose nothing by it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
