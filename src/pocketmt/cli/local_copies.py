"""Local copies of texts at addresses, for commands that read a text several times."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import click

from pocketmt.atomic_file import naming
from pocketmt.distributed.storage import open_address, without_query
from pocketmt.errors import PocketMTError


@contextmanager
def local_copies(texts: Sequence[Path | str | None]) -> Iterator[Mapping[Path | str, Path]]:
    """Yield a local file of each text: its path, or a copy of what is at its address.

    Copies are in the folder for temporary files, named by the last part of the address, and are removed at the end.
    Errors of the block name the addresses instead.

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
        with _naming_addresses(files):
            yield files


@contextmanager
def _naming_addresses(files: Mapping[Path | str, Path]) -> Iterator[None]:
    """Name addresses instead of their copies in an error of the block."""
    try:
        yield
    except PocketMTError as error:
        error.args = (_as_given(str(error), files),)
        raise
    except click.UsageError as error:
        raise click.UsageError(_as_given(error.format_message(), files), error.ctx) from error


def _as_given(message: str, files: Mapping[Path | str, Path]) -> str:
    for text, file in files.items():
        message = message.replace(str(file), str(text))
    return message


def _copy(address: str, folder: Path) -> Path:
    file = folder / (PurePosixPath(without_query(address).partition("://")[2]).name or "text")
    with open_address(address) as stream, naming(file), file.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return file
