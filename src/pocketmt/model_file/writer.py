"""Writing a model file atomically."""

import io
import os
from collections.abc import Mapping
from pathlib import Path

from pocketmt.atomic_file import atomic_write, check_output
from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file.container.file_compression import compress as compress_file
from pocketmt.model_file.container.file_start import begins_as_model_file
from pocketmt.model_file.container.stream_writer import (
    FileTensor,
    StoredTensor,
    StreamedTensor,
    write_container,
)
from pocketmt.model_file.reader import open_model
from pocketmt.model_file.vocabularies import vocabulary_tensors
from pocketmt.text.stored_vocabulary import StoredVocabularies, stored_vocabularies

__all__ = ["FileTensor", "OversizedError", "StoredTensor", "StreamedTensor", "check_model_output", "write_model"]


class OversizedError(ModelFileError):
    """Raised when a model file would have `size` bytes, more than its maximum."""

    def __init__(self, message: str, size: int) -> None:
        """Keep the size with the message."""
        super().__init__(message)
        self.size = size


def check_model_output(path: Path) -> None:
    """Check, before any work starts, that a model file can be written to a path, and would replace no other file.

    An empty file may be replaced.

    Raises:
        ConfigurationError: as `check_output` does, or a file that is not a model file is there.
        ModelFileError: the path is a device or a pipe.
    """
    check_output(path)
    if path.exists() and not path.is_file():
        raise ModelFileError(f"{path} is no regular file: a model file is read back before it is kept; name another")
    if path.exists() and path.stat().st_size and not begins_as_model_file(path):
        raise ConfigurationError(f"{path} exists and is not a model file: name another file to write")


def write_model(
    path: str | os.PathLike[str],
    manifest: Mapping[str, object],
    tensors: Mapping[str, FileTensor],
    vocabulary: bytes | StoredVocabularies,
    maximum_size: int | None = None,
) -> int:
    """Write a model file; an older one is replaced when the new one is complete, checked and on the disk.

    Args:
        path: to write to; its folder must exist and have room for a second copy.
        manifest: the whole manifest (docs/reference/model-file.md). With `coding`, a file is compressed if that makes
            it smaller.
        tensors: parameters and codes, in the order of the file; streamed ones are read when they are written.
        vocabulary: the vocabularies; or one serialized SentencePiece model, which source and target share.
        maximum_size: most bytes of the file; None: no limit.

    Returns:
        The file's size in bytes.

    Raises:
        ConfigurationError: as `check_model_output` does.
        ModelFileError: as `write_container` and `check_model_output` do, the disk refuses, or a reader would refuse the
            file; an older file is unchanged.
        OversizedError: the file is larger than its maximum; an older file is unchanged.
    """
    target = Path(path)
    check_model_output(target)
    rows = vocabulary_tensors(stored_vocabularies(vocabulary))
    stored: dict[str, FileTensor] = {
        **tensors,
        **{name: StoredTensor("U8", (len(row),), row) for name, row in rows.items()},
    }
    try:
        with atomic_write(target) as stream:
            if "coding" in manifest:
                whole = io.BytesIO()
                write_container(whole, manifest, stored)
                stream.write(compress_file(whole.getvalue()))
            else:
                write_container(stream, manifest, stored)
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
        # The digest was just made from the same bytes; reading a large file again would keep all of it in memory.
        open_model(temporary, check_digest=False).close()
    except ModelFileError as error:
        raise ModelFileError(f"{target}: not written, since no reader would take it: {error.__cause__}") from error
