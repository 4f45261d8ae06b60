"""Shards: the results of blocks in files, with a record of each, so that a run resumes and damage is found.

OUTPUT/settings.json          the model, the options and the number of lines of a shard
OUTPUT/000000.txt, ...        one shard for each block
OUTPUT/records/000000.json    lines and hashes of a shard, written after it
OUTPUT/manifest.json          all records, written when every shard is complete
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from pocketmt import __version__
from pocketmt.distributed.blocks import Block, Result
from pocketmt.distributed.storage import Storage
from pocketmt.errors import ConfigurationError

SETTINGS: Final = "settings.json"
MANIFEST: Final = "manifest.json"
RECORDS: Final = "records"
_RECORD_SUFFIX: Final = ".json"
_NUMBER: Final = "[0-9]{6,}"  # Pattern of the number of a block in names.


@dataclass(frozen=True)
class ShardRecord:
    """A shard in the manifest.

    Attributes:
        file: its name.
        first_line: number of the first line of its text, from 1.
        lines: number of lines of its text.
        source_sha256: hexadecimal hash of these lines, each with a line feed.
        bytes: length of the file.
        sha256: hexadecimal hash of the file.
    """

    file: str
    first_line: int
    lines: int
    source_sha256: str
    bytes: int
    sha256: str


class Shards:
    """The shards of a text in a storage.

    Attributes:
        records: those of the finished shards, by the number of the block.
        finished_lines: number of lines of the finished shards.
    """

    def __init__(self, storage: Storage, location: str, settings: dict[str, Any], suffix: str = ".txt") -> None:
        """Begin, or resume if the storage holds shards with the same settings.

        The settings are written with the first shard: a run that ends before it can be followed by one with others.

        Raises ConfigurationError if it holds shards with other settings, or files of these names without settings.
        """
        self._storage, self._location, self._suffix = storage, location, suffix
        self.records: dict[int, ShardRecord] = {}
        self.finished_lines = 0
        recorded = storage.read(SETTINGS)
        self._settings: bytes | None = _encode(settings)  # to be written
        if recorded == self._settings:
            self._settings = None
        elif recorded is not None:
            raise ConfigurationError(
                f"{location} holds {_difference(recorded, settings)}: choose another folder, or remove this one to "
                "start again"
            )
        else:
            self._check_no_shards()

    def missing(self, blocks: Iterator[Block], warn: Callable[[str], None]) -> Iterator[Block]:
        """Yield the blocks whose shards are missing or damaged; warns about damaged ones.

        Raises ConfigurationError if a shard is of another text.
        """
        count = 0
        for block in blocks:
            count = block.number + 1
            record = self._record(block.number)
            if record is None:
                yield block
                continue
            if (record.source_sha256, record.lines) != (block.sha256, len(block.rows)):
                raise self._other_text(block.lines)
            if _fits(record, self._storage.read(record.file)):
                self._take(block.number, record)
            else:
                warn(f"{self._location}/{record.file}: damaged: {block.lines} are done again")
                yield block
        # Blocks are finished in any order, and the record of a shard may be missing.
        if any(number >= count for number in self._numbers()):
            raise self._other_text("the text has become shorter")

    def store(self, block: Block, result: Result) -> None:
        """Write the shard of a block, and then its record."""
        record = ShardRecord(
            f"{block.number:06d}{self._suffix}",
            block.first_line,
            len(block.rows),
            block.sha256,
            len(result.content),
            hashlib.sha256(result.content).hexdigest(),
        )
        self._write_settings()
        self._storage.write(record.file, result.content)
        self._storage.write(_record_name(block.number), _encode(asdict(record)))
        self._take(block.number, record)

    def write_manifest(self) -> None:
        """Write the manifest of all shards, which are complete."""
        self._write_settings()
        shards = [asdict(self.records[number]) for number in range(len(self.records))]
        manifest = {"producer": f"pocketmt {__version__}", "lines": self.finished_lines, "shards": shards}
        self._storage.write(MANIFEST, _encode(manifest))

    def contents(self) -> Iterator[bytes]:
        """Yield the shards in order; ConfigurationError if one has been damaged since it was written."""
        for number in range(len(self.records)):
            record = self.records[number]
            content = self._storage.read(record.file)
            if content is None or not _fits(record, content):
                raise ConfigurationError(f"{self._location}/{record.file}: damaged: run the same command again")
            yield content

    def _check_no_shards(self) -> None:
        """Raise ConfigurationError if there are files that would be replaced, although there are no settings."""
        ours = re.compile(rf"{MANIFEST}|{RECORDS}|{_NUMBER}{re.escape(self._suffix)}")
        if found := sorted(filter(ours.fullmatch, self._storage.names())):
            raise ConfigurationError(
                f"{self._location} holds {found[0]} but no {SETTINGS}, so it is not a folder of shards: choose another "
                "folder"
            )

    def _numbers(self) -> Iterator[int]:
        """Yield the number of each shard and of each record in the storage."""
        for folder, suffix in ("", self._suffix), (RECORDS, _RECORD_SUFFIX):
            ours = re.compile(rf"({_NUMBER}){re.escape(suffix)}")
            yield from (int(found[1]) for found in map(ours.fullmatch, self._storage.names(folder)) if found)

    def _write_settings(self) -> None:
        if self._settings is not None:
            self._storage.write(SETTINGS, self._settings)
            self._settings = None

    def _take(self, number: int, record: ShardRecord) -> None:
        self.records[number] = record
        self.finished_lines += record.lines

    def _record(self, number: int) -> ShardRecord | None:
        """Return the record of a shard; None if it is missing or damaged."""
        content = self._storage.read(_record_name(number))
        try:
            return None if content is None else ShardRecord(**json.loads(content))
        except (ValueError, TypeError):
            return None

    def _other_text(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"{self._location} holds shards of another text ({what}): choose another folder, or remove this one to "
            "start again"
        )


def _record_name(number: int) -> str:
    return f"{RECORDS}/{number:06d}{_RECORD_SUFFIX}"


def _fits(record: ShardRecord, content: bytes | None) -> bool:
    return content is not None and hashlib.sha256(content).hexdigest() == record.sha256


def _encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def _difference(recorded: bytes, settings: dict[str, Any]) -> str:
    try:
        there = json.loads(recorded)
        names = [name for name, value in settings.items() if there.get(name) != json.loads(json.dumps(value))]
    except (ValueError, AttributeError):
        names = []
    return f"shards with another {', '.join(names)}" if names else "other files of this name"
