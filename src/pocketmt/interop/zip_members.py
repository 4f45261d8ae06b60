"""Members of zip files: where their bytes lie, so that tensors are read straight from the file."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.git_lfs import refuse_pointer

MOST_MEMBERS: Final = 100_000
_BLOCK: Final = 1 << 20  # bytes
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")  # signature, ..., length of the name, length of the extra field
# What damaged zip files raise in Python's zipfile module.
DAMAGED: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(ValueError, OverflowError, NotImplementedError, RuntimeError),
)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a zip file.

    Attributes:
        name: of the member.
        offset: of its first byte in the zip file; None: it is compressed.
        size: in bytes, when it is decompressed.
        checksum: CRC-32 of these bytes; 0: PyTorch was told to leave it out, or the bytes have that one.
    """

    name: str
    offset: int | None
    size: int
    checksum: int


def zip_members(path: Path) -> dict[str, Member]:
    """Return the members of a zip file by name.

    Raises InteropError if it is damaged or has a name twice, or as `refuse_pointer` does.
    """
    refuse_pointer(path)
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_MEMBERS:
                raise InteropError(f"{path}: has {len(entries)} members, expected at most {MOST_MEMBERS}")
            members = {entry.filename: _member(path, file, entry) for entry in entries}
            stored = sum(member.size for member in members.values() if member.offset is not None)
            if stored > file.seek(0, os.SEEK_END):
                raise InteropError(f"{path}: its members overlap, or it is cut off: download it again")
    except DAMAGED as error:
        raise InteropError(f"{path}: not a zip file, or a damaged one ({str(error)[:120]})") from error
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    if len(members) != len(entries):
        raise InteropError(f"{path}: two members have the same name")
    return members


def read_member(path: Path, member: Member, limit: int) -> bytes:
    """Return the content of a member, decompressed.

    Raises InteropError if it has more than `limit` bytes, or is damaged.
    """
    if member.size > limit:
        raise InteropError(f"{path}: {member.name!r:.120} has {member.size} bytes, expected at most {limit}")
    if member.offset is not None:
        return b"".join(stored_blocks(path, member))
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member.name) as stream:
            content = stream.read(limit + 1)
    except (*DAMAGED, KeyError) as error:
        raise InteropError(f"{path}: {member.name!r:.120} is damaged ({str(error)[:120]})") from error
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    if len(content) != member.size:
        raise InteropError(f"{path}: {member.name!r:.120} has {len(content)} bytes, not the {member.size} it claims")
    return content


def stored_blocks(path: Path, member: Member) -> Iterator[bytes]:
    """Return the bytes of a stored member, block by block; raises InteropError after the last one if it is damaged."""
    assert member.offset is not None
    left, checksum = member.size, 0
    try:
        with path.open("rb") as file:
            file.seek(member.offset)
            while left and (block := file.read(min(left, _BLOCK))):
                left -= len(block)
                checksum = zlib.crc32(block, checksum)
                yield block
    except OSError as error:
        raise InteropError(unreadable(path, error)) from error
    if left or (member.checksum and checksum != member.checksum):
        raise InteropError(f"{path}: {member.name!r:.120} is damaged: download it again")


def check_stored(path: Path, member: Member) -> None:
    """Raise InteropError if the bytes of a stored member are damaged; one block at a time is in memory."""
    for _ in stored_blocks(path, member):
        pass


def _member(path: Path, file: BinaryIO, entry: zipfile.ZipInfo) -> Member:
    if entry.compress_type != zipfile.ZIP_STORED:
        return Member(entry.filename, None, entry.file_size, entry.CRC)
    if entry.compress_size != entry.file_size or entry.flag_bits & 1:
        raise InteropError(f"{path}: {entry.filename!r:.120} is stored with two sizes, or encrypted")
    file.seek(entry.header_offset)
    signature, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if signature != b"PK\x03\x04":
        raise InteropError(f"{path}: {entry.filename!r:.120} does not begin where the directory says")
    offset = entry.header_offset + _LOCAL_HEADER.size + name + extra
    return Member(entry.filename, offset, entry.file_size, entry.CRC)
