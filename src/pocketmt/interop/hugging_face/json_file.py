"""JSON files of a Hugging Face folder."""

from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError, ModelFileError, unreadable
from pocketmt.model_file.container.strict_json import parse_object

MAXIMUM_BYTES: Final = 64 << 20


def read_json(path: Path) -> dict[str, Any]:
    """Return the object of a file; raises InteropError if it is missing, too large, or not one JSON object."""
    try:
        with path.open("rb") as file:
            content = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    if len(content) > MAXIMUM_BYTES:
        raise InteropError(f"{path}: has more than {MAXIMUM_BYTES} bytes")
    try:
        return parse_object(content, "the file")
    except ModelFileError as error:
        raise InteropError(f"{path}: {error}") from error
