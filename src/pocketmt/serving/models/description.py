"""Descriptions of model files: the languages and the memory that a model needs, from its header alone."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.container.file_compression import LARGEST, MAGIC, decompress
from pocketmt.model_file.container.header import ELEMENT_BYTES, LENGTH_BYTES, MAXIMUM_HEADER, header_bytes, parse_header
from pocketmt.model_file.container.strict_json import parse_object
from pocketmt.model_file.manifest import CheckedManifest, check_manifest

Stamp = tuple[int, int, int]  # time of change in nanoseconds, size, number of the file
_CONSTANT_MEMORY: Final = 8 << 20  # bytes; vocabularies and buffers


@dataclass(frozen=True)
class ModelDescription:
    """A model file as it was when its header was read.

    Attributes:
        path: of the file.
        stamp: changes when the file does.
        sources, targets: codes of the languages that it translates from and into.
        memory: estimate of the bytes that it needs when it is loaded.
        digest: SHA-256 of the file, as its header states it; it is not compared with the content.
    """

    path: Path
    stamp: Stamp
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    memory: int
    digest: str = ""


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file; raises OSError."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def describe_model(path: Path) -> ModelDescription:
    """Read the header of a model file.

    The file is not mapped: another program may shorten it meanwhile, which would end a process that has it mapped.

    Raises ModelFileError if it cannot be read, or is no model file.
    """
    try:
        stamp = stamp_of(path)
        checked, digest = _read_manifest(path, stamp[1])
    except (OSError, ModelFileError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ModelFileError(f"{path}: cannot be served: {reason}") from error
    pieces = checked.language_pieces
    sources = tuple(pieces.source) if pieces is not None and pieces.source else checked.languages[:1]
    targets = tuple(pieces.target) if pieces is not None else checked.languages[1:]
    if not all((*sources, *targets)):
        raise ModelFileError(
            f"{path}: cannot be served: the file does not say its languages: import the model again with "
            "`pocketmt import MODEL --output FILE --source-language CODE --target-language CODE`"
        )
    memory = _CONSTANT_MEMORY + sum(
        math.prod(shape) * ELEMENT_BYTES[dtype] for dtype, shape in checked.tensors.values()
    )
    return ModelDescription(path, stamp, sources, targets, memory, digest)


def _read_manifest(path: Path, size: int) -> tuple[CheckedManifest, str]:
    """Return the manifest of a file, and the digest that its header states."""
    with open(path, "rb") as file:
        start = file.read(LENGTH_BYTES)
        if start.startswith(MAGIC):
            buffer = decompress(memoryview(start + file.read(LARGEST)))
            raw, size = header_bytes(buffer), len(buffer)
        else:
            length = int.from_bytes(start, "little")
            content = start + file.read(min(length, MAXIMUM_HEADER))
            raw = header_bytes(memoryview(content))
    header = parse_header(raw, size)
    if "pocketmt" not in header.metadata:
        raise ModelFileError("safetensors, but not a model file")
    return check_manifest(parse_object(header.metadata["pocketmt"], "the manifest")), header.metadata.get("digest", "")


def is_model_name(name: str) -> bool:
    """Whether a file of a folder is taken for a model by its name."""
    return name.endswith(".pocketmt") and not name.startswith(".") and os.sep not in name
