"""Places for shards: a folder, or an address such as s3://bucket/folder that fsspec reads and writes."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from pocketmt.atomic_file import DISK_ERRORS, atomic_write
from pocketmt.errors import ConfigurationError, DataError, PocketMTError


class Storage(Protocol):
    """Files by name; a name may have folders in it. A file appears under its name when it is complete."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is missing; DataError if an address cannot be read."""
        ...

    def names(self, folder: str = "") -> set[str]:
        """Return the names of the files and folders in it, or in a folder of it; DataError as `read` raises it."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a file; OSError if the disk is full, DataError if an address cannot be written."""
        ...


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes | None:
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

    def names(self, folder: str = "") -> set[str]:
        try:
            return {each.name for each in (self._path / folder).iterdir()}
        except FileNotFoundError:
            return set()

    def write(self, name: str, content: bytes) -> None:
        file = self._path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(file) as stream:
            stream.write(content)


class _Remote:
    def __init__(self, address: str) -> None:
        with _explaining(address):
            import fsspec  # type: ignore[import-untyped]

            self._files, self._path = fsspec.core.url_to_fs(address.rstrip("/"))
        self._address = address

    def read(self, name: str) -> bytes | None:
        with _explaining(self._address):
            try:
                return cast(bytes, self._files.cat_file(f"{self._path}/{name}"))
            except FileNotFoundError:
                return None

    def names(self, folder: str = "") -> set[str]:
        path = f"{self._path}/{folder}" if folder else self._path
        with _explaining(self._address):
            try:
                return {Path(each).name for each in self._files.ls(path, detail=False)}
            except FileNotFoundError:
                return set()

    def write(self, name: str, content: bytes) -> None:
        with _explaining(self._address):
            self._files.makedirs(f"{self._path}/{name}".rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(f"{self._path}/{name}", content)


class _Readable(io.RawIOBase):
    """A file at an address, whose errors name the address."""

    def __init__(self, address: str, stream: BinaryIO) -> None:
        self._address, self._stream = address, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _explaining(self._address):
            content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def is_address(location: str) -> bool:
    """Return whether a location is an address for fsspec rather than a path."""
    return "://" in location


def local_path(location: Path | str) -> Path:
    """Return the path of a file; for file:// and local:// addresses, the path that fsspec reads or writes.

    The path from any other address leads to no file.
    """
    protocol, separator, path = str(location).partition("://")
    if isinstance(location, Path) or not separator or protocol not in ("file", "local"):
        return Path(location)
    return Path(os.path.expanduser(path))


def without_query(location: Path | str) -> str:
    """Return a path or an address, of http and https without ?query and #fragment, which follow the file's suffix."""
    text = str(location)
    if isinstance(location, str) and text.startswith(("http://", "https://")):
        return text.partition("#")[0].partition("?")[0]
    return text


def open_storage(location: str) -> Storage:
    """Return the storage at a path or address.

    Raises ConfigurationError if fsspec knows no such address, and DataError if it fails otherwise.
    """
    return _Remote(location) if is_address(location) else _Folder(Path(location))


@contextmanager
def open_address(address: str) -> Iterator[BinaryIO]:
    """Open a file at an address for reading.

    Raises:
        ConfigurationError: fsspec does not know the kind of address, or lacks a package for it.
        DataError: there is no such file, or it cannot be read; also raised by the stream.
    """
    with _explaining(address):
        import fsspec

        opened: Any = fsspec.open(address, "rb")
        try:
            stream = opened.open()
        except FileNotFoundError as error:
            raise DataError(f"{address}: no such file: check the address") from error
    with stream:
        yield io.BufferedReader(_Readable(address, stream))


@contextmanager
def _explaining(address: str) -> Iterator[None]:
    """Turn errors of fsspec into those that name the address; packages for addresses have exceptions of any type."""
    try:
        yield
    except (PocketMTError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        if error.name == "fsspec":
            raise
        raise ConfigurationError(f"{address}: {error}{_installation(error)}") from error
    except ImportError as error:  # "Install s3fs to access S3" comes from a ModuleNotFoundError.
        raise ConfigurationError(f"{address}: {error}{_installation(error.__cause__)}") from error
    except ValueError as error:
        raise ConfigurationError(f"{address}: {error}: give a path, or an address that fsspec reads") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            raise
        reason = str(error) or type(error).__name__
        raise DataError(f"{address}: {reason}: check the address, and whether you have access to it") from error


def _installation(error: BaseException | None) -> str:
    """Return the command that installs what an import lacked, for the end of a message; "" if that is unknown."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return f": pip install {name.partition('.')[0]}" if name else ""
