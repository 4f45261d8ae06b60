"""Hostile vocabularies: whatever the stream claims, memory stays bounded and the error says where."""

import json
import lzma
import tracemalloc
import zlib
from pathlib import Path

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from tests.model_file import sample
from tests.model_file.attack import DATA, HEADER


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hostile.pocketmt"


def with_vocabulary(compressed: bytes, size: int) -> bytes:
    """The sample with another vocabulary tensor, which lies last."""
    header = json.loads(json.dumps(HEADER))
    begin = header["vocabulary"]["data_offsets"][0]
    header["vocabulary"] = {"dtype": "U8", "shape": [len(compressed)], "data_offsets": [begin, begin + len(compressed)]}
    about = sample.manifest()
    about["vocabulary"] = {"encoding": "xz", "bytes": size, "normalization": "nfkc"}
    return sample.join(sample.with_manifest(header, about), DATA[:begin] + compressed)


def with_window(compressed: bytes, code: int) -> bytes:
    """Ask for another LZMA2 window in an xz stream's block header: 40 is 4 GiB (xz format, sections 3.1 and 5.3.1)."""
    size = (compressed[12] + 1) * 4
    block = bytearray(compressed[12 : 12 + size])
    place = block.index(b"\x21\x01") + 2
    block[place] = code
    block[-4:] = zlib.crc32(bytes(block[:-4])).to_bytes(4, "little")
    return compressed[:12] + bytes(block) + compressed[12 + size :]


@pytest.mark.parametrize(
    ("compressed", "size"),
    [
        (b"not xz at all", 100),
        (lzma.compress(bytes(64 << 20), preset=0), 1000),
        (lzma.compress(b"short"), 1000),
        (lzma.compress(b"a") + lzma.compress(b"b"), 1),
        (lzma.compress(b"a") + b"appended", 1),
        (lzma.compress(b"a" * 1000)[:-8], 1000),
        (with_window(lzma.compress(b"a"), 40), 1),
    ],
    ids=["no stream", "bomb", "short", "two streams", "appended", "cut off", "huge window"],
)
def test_hostile_vocabularies(path: Path, compressed: bytes, size: int) -> None:
    path.write_bytes(with_vocabulary(compressed, size))
    with open_model(path) as file:
        tracemalloc.start()
        try:
            with pytest.raises(ModelFileError, match="tensor 'vocabulary'"):
                file.vocabulary()
            assert tracemalloc.get_traced_memory()[1] < 20 << 20  # bytes
        finally:
            tracemalloc.stop()


def test_a_window_that_is_allowed_is_read(path: Path) -> None:
    """The window attack above fails for its window alone."""
    path.write_bytes(with_vocabulary(with_window(lzma.compress(b"a"), 20), 1))
    with open_model(path) as file:
        assert file.vocabulary() == b"a"
