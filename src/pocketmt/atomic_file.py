"""Output files that appear under their names only when they are complete."""

import errno
import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from pocketmt.errors import ConfigurationError
from pocketmt.lazy_pattern import lazy_pattern

# No space, no quota, larger than the file system or the process allows.
DISK_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DESCRIPTOR: Final = lazy_pattern(r"(?:/dev|/proc/(?P<process>\d+)(?:/task/\d+)?)/fd/(?P<number>\d+)")
_MOST_LINKS: Final = 40  # that Linux follows
_LONGEST_NAME: Final = 255  # bytes of a file's name, on usual file systems
UNFINISHED: Final = f".{{}}.{'[0-9a-f]' * 8}.unfinished"  # A pattern of the names that `atomic_write` gives a file.


def check_output(path: Path) -> None:
    """Check, before any work starts, that a file can be written to a path; raises ConfigurationError if not."""
    if path.is_dir():
        raise ConfigurationError(f"{path} is a folder: name the file to write")
    final = path.absolute() if is_special(path) else resolved(path)
    if final.is_symlink() and not is_special(path):
        raise ConfigurationError(f"{path} is in a loop of symbolic links: name another file to write")
    folder = final.parent
    if not folder.is_dir():
        parent = folder if path.is_symlink() else path.parent  # As the caller wrote it, if possible.
        if parent.exists():
            raise ConfigurationError(f"{path}: {parent} is not a folder: name another file to write")
        raise ConfigurationError(f"{path}: folder {parent} does not exist: create it first")
    descriptor = _own_descriptor(path)
    if descriptor is not None:
        try:
            os.write(descriptor, b"")
        except OSError as error:
            reason = error.strerror or error
            raise ConfigurationError(f"{path}: not open for writing ({reason}): redirect it to a file") from error
    elif not os.access(path if is_special(path) else folder, os.W_OK):
        raise ConfigurationError(f"{path}: there is no permission to write it: choose another folder")
    elif path.exists() and not os.access(path, os.W_OK):  # The folder would let it be replaced.
        raise ConfigurationError(f"{path} is read-only: name another file to write, or make it writable first")


def resolved(path: Path) -> Path:
    """Return the absolute path of a file, with symbolic links followed, except those in a loop.

    `Path.resolve` raises RuntimeError for a loop before Python 3.13.
    """
    return Path(os.path.realpath(path))


def check_not_read(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise ConfigurationError if a file to write is one that is read."""
    read = [resolved(path) for path in inputs]
    for path in outputs:
        if resolved(path) in read:
            raise ConfigurationError(f"{path} is read, and would be replaced: name another file to write")


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name when the block ends without an error.

    After an error, an earlier file of that name is unchanged; otherwise it is replaced, and the new file has its
    permissions. Symbolic links are followed. Devices, named pipes and open files of a process (/dev/stdout) are written
    to directly. The stream's `name` is the path of the temporary file, or of such a file. Raises ConfigurationError as
    `check_output` does.
    """
    with write_together(path) as (stream,):
        yield stream


@contextmanager
def write_together(*paths: Path) -> Iterator[Sequence[BinaryIO]]:
    """Open several files as `atomic_write` does; they appear when the block has ended and all are on the disk."""
    for path in paths:
        check_output(path)
    finals = [None if is_special(path) else resolved(path) for path in paths]
    written = [path if final is None else _temporary_path(final) for path, final in zip(paths, finals, strict=True)]
    try:
        with _naming_finals(written, paths), naming(*paths), ExitStack() as opened:
            openers = [_open_special if final is None else None for final in finals]
            streams = [
                opened.enter_context(open(file, "wb", opener=opener))
                for file, opener in zip(written, openers, strict=True)
            ]
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


@contextmanager
def _naming_finals(written: Sequence[Path], paths: Sequence[Path]) -> Iterator[None]:
    """Name the file that the caller knows in an error of the block about its temporary one."""
    try:
        yield
    except OSError as error:
        names = dict(zip(map(str, written), map(str, paths), strict=True))
        if error.filename in names:
            error.filename = names[error.filename]
        raise


def remove_unfinished_outputs(*paths: Path) -> None:
    """Remove what killed processes have left of files that they wrote by `atomic_write`.

    No other process writes these files.
    """
    for path in paths:
        if is_special(path):
            continue
        final = resolved(path)
        for left in final.parent.glob(UNFINISHED.format(glob.escape(_shortened(final.name)))):
            with suppress(OSError):  # It is another user's.
                left.unlink()


def is_special(path: Path) -> bool:
    """Return whether a path is that of a device, a named pipe or an open file of a process, or of a folder."""
    return _descriptor(path) is not None or (path.exists() and not path.is_file())


def _descriptor(path: Path) -> re.Match[str] | None:
    """Return the match of the open file of a process to which a path leads; None if it is the path of a file.

    The system follows such a path to the file itself, which must not be replaced: processes that have it open would go
    on writing to the old one.
    """
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        descriptor = _DESCRIPTOR.fullmatch(str(path))
        if descriptor is not None or not path.is_symlink():
            return descriptor
        path = path.parent / path.readlink()
    return None


def _own_descriptor(path: Path) -> int | None:
    """Return the number of the open file of this process to which a path leads; None if it leads elsewhere."""
    found = _descriptor(path)
    return int(found["number"]) if found is not None and found["process"] in (None, str(os.getpid())) else None


def _open_special(path: str, flags: int) -> int:
    """Open a device, pipe or open file for writing after what is there."""
    descriptor = _own_descriptor(Path(path))
    return os.open(path, flags & ~os.O_TRUNC | os.O_APPEND) if descriptor is None else os.dup(descriptor)


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{_shortened(path.name)}.{os.urandom(4).hex()}.unfinished")


def _shortened(name: str) -> str:
    """Return a name that leaves room for what a temporary path adds."""
    added = len("..01234567.unfinished")
    # A name that is too long itself stays so: then opening fails, rather than the renaming after the work.
    encoded = os.fsencode(name)
    return encoded[: max(_LONGEST_NAME, len(encoded)) - added].decode(errors="ignore")


def _synchronize(folder: Path) -> None:
    """Make a rename durable. Some file systems cannot synchronize folders and do not need it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
