"""The content of foreign files: read whole up to a limit, or mapped into memory."""

import mmap
from pathlib import Path

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.git_lfs import refuse_pointer


def read_whole(path: Path, most: int, *, too_large: str = "", hint: str = "") -> bytes:
    """Return the content of a file of at most `most` bytes; no more than one byte above the limit is read.

    Raises InteropError if the file is larger, a message that ends with `too_large`, or cannot be read, with `hint`, or
    as `refuse_pointer` does.
    """
    refuse_pointer(path)
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise InteropError(unreadable(path, error) + hint) from error
    if len(content) > most:
        raise InteropError(f"{path}: has more than {most} bytes{too_large}")
    return content


def mapped(path: Path) -> memoryview:
    """Map a file; it stays mapped while the view or a part of it is used.

    Raises InteropError if the file cannot be read or is empty, or as `refuse_pointer` does.
    """
    refuse_pointer(path)
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        cause = error if isinstance(error, OSError) else OSError(str(error))
        raise InteropError(unreadable(path, cause)) from error
