"""Sorting of more records than fit in memory: sorted runs on disk, and merges of them (Knuth 1998, section 5.4)."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from pocketmt.atomic_file import naming

RECORDS: Final = 500_000  # in memory: about 50 MB of records of 24 bytes
FAN_IN: Final = 64  # runs that are merged at once; each is an open file
_READ_BYTES: Final = 1 << 16


class ExternalSort:
    """Records of equal length, to be read in the order of their bytes.

    Up to RECORDS of them are in memory; all others are in files of a folder, which its owner removes.
    """

    def __init__(self, folder: Path, length: int, records: int = RECORDS) -> None:
        """Take a folder for the runs, the bytes of a record, and the most records in memory."""
        self._folder, self._length, self._records = folder, length, records
        self._memory: list[bytes] = []
        self._levels: list[list[Path]] = []  # Runs of the i-th level are merged from FAN_IN ** i sorted pieces.
        self._runs = 0
        self.count = 0

    def add(self, record: bytes) -> None:
        """Add a record. OSError if the disk is full."""
        self._memory.append(record)
        self.count += 1
        if len(self._memory) == self._records:
            self._memory.sort()
            self._store(0, self._memory)
            self._memory = []

    def __iter__(self) -> Iterator[bytes]:
        """Yield all records in order. None may be added meanwhile."""
        self._memory.sort()
        with ExitStack() as opened:
            runs = [self._read(run, opened) for level in self._levels for run in level]
            yield from heapq.merge(self._memory, *runs)

    def _store(self, level: int, records: Iterable[bytes]) -> None:
        """Write a run of a level; if the level is full, merge its runs into one of the next level."""
        self._runs += 1
        run = self._folder / f"run-{id(self):x}-{self._runs}"
        with naming(run), run.open("wb", buffering=_READ_BYTES) as stream:
            stream.writelines(records)
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(run)
        if len(runs) == FAN_IN:
            with ExitStack() as opened:
                self._store(level + 1, heapq.merge(*(self._read(each, opened) for each in runs)))
            for each in runs:
                each.unlink()
            runs.clear()

    def _read(self, run: Path, opened: ExitStack) -> Iterator[bytes]:
        stream = opened.enter_context(run.open("rb", buffering=_READ_BYTES))
        return iter(partial(stream.read, self._length), b"")
