"""Files that are compressed as a whole: the same model, fewer bytes, and no stream makes a reader do anything else."""

import lzma
import random
from pathlib import Path

import pytest

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.container.file_compression import LARGEST, MAXIMUM_EXPANSION, compress, decompress
from pocketmt.model_file.report import inspect_model
from tests.model_file.attack import SAMPLE, refused
from tests.model_file.matrices.test_entropy_coding import coded_sample

CHECK_BYTES = 4


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compressed") / "hostile.pocketmt"


def test_a_compressed_file_is_the_file_that_it_holds(path: Path) -> None:
    content = coded_sample(path)
    with open_model(path) as file:
        whole = {name: bytes(file.data(name)) for name in file.tensors}
    stream = compress(content)
    assert len(stream) < len(content) and lzma.decompress(stream) == content
    path.write_bytes(stream)
    with open_model(path) as file:
        assert file.buffer == content and file.buffer.readonly
        assert {name: bytes(file.data(name)) for name in file.tensors} == whole


def test_every_byte_is_in_the_report(path: Path) -> None:
    content = coded_sample(path)
    plain = inspect_model(path)
    path.write_bytes(compress(content))
    report = inspect_model(path)
    assert plain.compressed_bytes == 0 and "compressed by" not in plain.to_text()
    assert report.file_bytes == path.stat().st_size == len(content) - report.compressed_bytes
    assert report.container_bytes == plain.container_bytes and report.float32_file_bytes == plain.float32_file_bytes
    assert f"-{report.compressed_bytes:,}" in report.to_text()


def test_what_would_not_be_smaller_stays_as_it_is() -> None:
    content = random.Random(1).randbytes(1000)
    assert compress(content) == content


@pytest.mark.parametrize(("repeated", "pays"), [(3_000, False), (7_000, True)])
def test_a_file_that_would_be_little_smaller_stays_as_it_is(repeated: int, pays: bool) -> None:
    content = random.Random(1).randbytes(100_000) + bytes(repeated)
    assert (len(compress(content)) < len(content)) == pays


def test_a_large_file_stays_as_it_is() -> None:
    content = bytes(LARGEST // 2) + random.Random(1).randbytes(LARGEST // 2)
    assert len(compress(content)) < 0.6 * LARGEST
    assert compress(content + b"\0") == content + b"\0"


def test_what_a_reader_would_refuse_stays_as_it_is() -> None:
    content = bytes(100_000)
    assert compress(content) == content
    with pytest.raises(ModelFileError, match=f"expands to more than {MAXIMUM_EXPANSION} times its"):
        decompress(memoryview(lzma.compress(content)))


def test_a_damaged_stream_is_refused(path: Path) -> None:
    stream = compress(SAMPLE)
    draw = random.Random(1)
    for length in range(1, len(stream), 11):
        refused(path, stream[:length])
    for at in range(0, len(stream), 5):
        refused(path, stream[:at] + bytes([stream[at] ^ 1 << draw.randrange(8)]) + stream[at + 1 :])
    refused(path, stream + b"\0", "bytes after the end of the xz stream")
    refused(path, stream + stream, "bytes after the end of the xz stream")
    refused(path, stream[:-CHECK_BYTES], "cut off")


def test_a_stream_that_fits_holds_no_more_than_any_file(path: Path) -> None:
    draw = random.Random(2)
    for _ in range(200):
        at, bit = draw.randrange(len(SAMPLE)), draw.randrange(8)
        flipped = SAMPLE[:at] + bytes([SAMPLE[at] ^ 1 << bit]) + SAMPLE[at + 1 :]
        refused(path, compress(flipped))
    refused(path, lzma.compress(compress(SAMPLE)), "its header would have")
