"""Places for shards: a folder, or an address such as s3://bucket/folder that fsspec reads and writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from pocketmt.atomic_file import atomic_write
from pocketmt.errors import ConfigurationError, DataError


class Storage(Protocol):
    """Files by name; a name may have folders in it. A file appears under its name when it is complete."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is missing."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a file; OSError if the disk is full."""
        ...


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes | None:
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

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

    def write(self, name: str, content: bytes) -> None:
        with _explaining(self._address):
            self._files.makedirs(f"{self._path}/{name}".rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(f"{self._path}/{name}", content)


def is_address(location: str) -> bool:
    """Return whether a location is an address for fsspec rather than a path."""
    return "://" in location


def open_storage(location: str) -> Storage:
    """Return the storage at a path or address. ConfigurationError if fsspec knows no such address."""
    return _Remote(location) if is_address(location) else _Folder(Path(location))


@contextmanager
def open_address(address: str) -> Iterator[BinaryIO]:
    """Open a file at an address for reading.

    Raises:
        ConfigurationError: fsspec does not know the kind of address, or lacks a package for it.
        DataError: there is no such file.
    """
    with _explaining(address):
        import fsspec

        opened: Any = fsspec.open(address, "rb")
        try:
            stream = opened.open()
        except FileNotFoundError as error:
            raise DataError(f"{address}: no such file: check the address") from error
    with stream:
        yield stream


@contextmanager
def _explaining(address: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name == "fsspec":
            raise
        raise ConfigurationError(f"{address}: {error}") from error
    except ImportError as error:
        raise ConfigurationError(f"{address}: {error}") from error
    except ValueError as error:
        raise ConfigurationError(f"{address}: {error}: give a path, or an address that fsspec reads") from error
