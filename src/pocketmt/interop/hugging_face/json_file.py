"""JSON files of a Hugging Face folder."""

from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError, ModelFileError
from pocketmt.interop.file_content import read_whole
from pocketmt.model_file.container.strict_json import parse_object

MAXIMUM_BYTES: Final = 64 << 20


def read_json(path: Path) -> dict[str, Any]:
    """Return the object of a file; raises InteropError if it is missing, too large, or not one JSON object."""
    content = read_whole(path, MAXIMUM_BYTES)
    try:
        return parse_object(content, "the file")
    except ModelFileError as error:
        raise InteropError(f"{path}: {error}") from error
