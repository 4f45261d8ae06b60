"""Locks of folders: one process at a time works in the folder of a run."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from pocketmt.errors import ConfigurationError, PocketMTError

LOCK: Final = ".lock"


class LockedError(PocketMTError):
    """Another process is working in the folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create a folder if it is missing, and lock it for this process until the block ends.

    The operating system releases the lock of a process that dies, however it dies. The file of the lock says who holds
    it, and is removed at the end. Folders that this call has created are removed as well, if they are empty then.

    Raises:
        LockedError: another process, or another block of this process, holds the lock; raised at once.
        ConfigurationError: the folder cannot be created.
    """
    created = _create(folder)
    lock = FileLock(folder / LOCK, is_singleton=False)
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        raise LockedError(_explain(folder)) from error
    try:
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}
        (folder / LOCK).write_text(json.dumps(owner), encoding="utf-8")
        yield
    finally:
        # Removed before it is released: a process that opens it in between finds that it is no longer there.
        with suppress(OSError):
            (folder / LOCK).unlink()
        lock.release()
        with suppress(OSError):
            for each in reversed(created):
                each.rmdir()


def _create(folder: Path) -> list[Path]:
    """Create a folder with the missing ones above it; returns those that were created, from the outermost."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if folder.exists():
            raise ConfigurationError(f"{folder} is a file: name a folder") from error
        raise ConfigurationError(
            f"{folder}: this folder cannot be created ({error.strerror or error}): choose another"
        ) from error
    return missing[::-1]


def _explain(folder: Path) -> str:
    who = "another process"
    with suppress(OSError, ValueError, KeyError, TypeError):
        owner = json.loads((folder / LOCK).read_text(encoding="utf-8"))
        who = f"process {owner['pid']} on {owner['host']}, since {owner['since']}"
    return f"{folder}: in use by {who}: wait until it ends, stop it, or choose another folder"
