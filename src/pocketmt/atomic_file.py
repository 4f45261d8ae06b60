"""Output files that appear under their names only when they are complete."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from pocketmt.errors import ConfigurationError

# No space, no quota, larger than the file system or the process allows.
DISK_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_output(path: Path) -> None:
    """Check, before any work starts, that a file can be written to a path; raises ConfigurationError if not."""
    if path.is_dir():
        raise ConfigurationError(f"{path} is a folder: name the file to write")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ConfigurationError(f"{path}: there is no folder {path.parent} to write it to: make it first")
    if not os.access(path if _is_special(path) else folder, os.W_OK):
        raise ConfigurationError(f"{path}: there is no permission to write it: choose another folder")


def check_not_read(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise ConfigurationError if a file to write is one that is read."""
    read = [path.resolve() for path in inputs]
    for path in outputs:
        if path.resolve() in read:
            raise ConfigurationError(f"{path} is read, and would be replaced: name another file to write")


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name when the block ends without an error.

    After an error, an earlier file of that name is unchanged; otherwise it is replaced, and the new file has its
    permissions. Symbolic links are followed; devices and named pipes are written to directly. The stream's `name` is
    the path of the temporary file. Raises ConfigurationError as `check_output` does.
    """
    with write_together(path) as (stream,):
        yield stream


@contextmanager
def write_together(*paths: Path) -> Iterator[Sequence[BinaryIO]]:
    """Open several files as `atomic_write` does; they appear when the block has ended and all are on the disk."""
    for path in paths:
        check_output(path)
    finals = [None if _is_special(path) else path.resolve() for path in paths]
    written = [path if final is None else _temporary_path(final) for path, final in zip(paths, finals, strict=True)]
    try:
        with naming(*paths), ExitStack() as opened:
            streams = [opened.enter_context(file.open("wb")) for file in written]
            for stream, final in zip(streams, finals, strict=True):
                if final is not None and final.exists() and hasattr(os, "fchmod"):  # Windows has no such permissions.
                    with suppress(OSError):  # Some network file systems refuse it.
                        os.fchmod(stream.fileno(), stat.S_IMODE(final.stat().st_mode))
            yield streams
            for stream, final in zip(streams, finals, strict=True):
                stream.flush()
                if final is not None:
                    os.fsync(stream.fileno())
        for file, final in zip(written, finals, strict=True):
            if final is not None:
                file.replace(final)
                _synchronize(final.parent)
    finally:  # Also after Ctrl-C.
        for file, final in zip(written, finals, strict=True):
            if final is not None:
                file.unlink(missing_ok=True)


@contextmanager
def naming(*paths: Path) -> Iterator[None]:
    """Name the files in an error of the block that a full disk causes; the operating system does not name them."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_ERRORS and error.filename is None:
            error.filename = ", ".join(map(str, paths))
        raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}.unfinished")


def _synchronize(folder: Path) -> None:
    """Make a rename durable. Some file systems cannot synchronize folders and do not need it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
