"""Local copies of texts at addresses, for commands that read a text several times."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pocketmt.atomic_file import naming
from pocketmt.distributed.storage import open_address


@contextmanager
def local_copies(texts: Sequence[Path | str | None]) -> Iterator[Mapping[Path | str, Path]]:
    """Yield a local file of each text: its path, or a copy of what is at its address.

    Copies are in the folder for temporary files, named by the last part of the address, and are removed at the end.

    Args:
        texts: paths, addresses that fsspec reads, or None, which has no file.

    Raises OSError with the path if the disk is full, and as `open_address` does.
    """
    files: dict[Path | str, Path] = {}
    with ExitStack() as folders:
        for text in texts:
            if isinstance(text, str) and text not in files:
                folder = folders.enter_context(TemporaryDirectory(prefix="pocketmt-"))
                files[text] = _copy(text, Path(folder))
            elif isinstance(text, Path):
                files[text] = text
        yield files


def _copy(address: str, folder: Path) -> Path:
    file = folder / (PurePosixPath(address.partition("://")[2]).name or "text")
    with open_address(address) as stream, naming(file), file.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return file
