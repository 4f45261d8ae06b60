"""Files that Git LFS has left out of a download: a pointer of a few lines is in place of each."""

from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError

_START: Final = b"version https://git-lfs"


def refuse_pointer(path: Path) -> None:
    """Raise InteropError if a file is a pointer. One that cannot be opened is no error here: its reader says more."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_START))
    except OSError:
        return
    if start == _START:
        raise InteropError(f"{path}: is a Git LFS pointer, without the file's content: run `git lfs pull`")
