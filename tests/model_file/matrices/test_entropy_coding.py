"""Entropy-coded codes: streams decode to the same codes, and broken ones are refused."""

import lzma
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.errors import ModelFileError
from pocketmt.model_file import StoredRowGroup, open_model
from pocketmt.model_file.manifest import check_manifest
from pocketmt.model_file.matrices.entropy_coding import MAXIMUM_EXPANSION, coded_name, decode
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.packing.entropy_coding import entropy_code
from tests.model_file import sample, scheme_sample
from tests.model_file.attack import refused
from tests.model_file.schemas import check_schema
from tests.model_file.scheme_sample import row_group
from tests.model_file.test_hostile_random import refused_or_sound

NAME = "matrix.0.codes.deflate"
CODED_MANIFEST = {**scheme_sample.MANIFEST, "coding": "deflate"}


def deflated(content: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(content) + deflater.flush()


def few_codes(group: StoredRowGroup, seed: int) -> StoredTensor:
    """The code tensor of a group in which small codes are more frequent."""
    draw = random.Random(seed)
    dtype, shape = group.form.code_layout(group.rows, group.columns)
    if group.form.name == "uniform":
        data = bytes(draw.choice((0, 0, 0, 1, 255, 127)) for _ in range(group.rows * group.columns))
    elif group.form.name == "binary":
        lines = group.rows * group.form.bits
        data = b"".join(pack_row([draw.random() < 0.1 for _ in range(group.columns)], 1) for _ in range(lines))
    else:
        highest = 2**group.form.bits - 1
        rows = [[min(int(draw.expovariate(1)), highest) for _ in range(group.columns)] for _ in range(shape[0])]
        data = b"".join(pack_row(row, group.form.bits) for row in rows)
    return StoredTensor(dtype, shape, data)


def pack_row(codes: list[int] | list[bool], bits: int) -> bytes:
    number = sum(int(code) << position * bits for position, code in enumerate(codes))
    return number.to_bytes(-(-len(codes) * bits // 8), "little")


WIDTHS = [
    *(("codebook", bits, "matrix") for bits in (1, 2, 3, 4, 8)),
    *(("affine", bits, "row") for bits in (4, 6, 8)),
    *(("binary", bits, "row") for bits in (1, 2, 3, 4)),
    ("uniform", 8, "row"),
]


@settings(deadline=None, max_examples=20)
@given(rows=st.integers(1, 40), columns=st.integers(1, 40), seed=st.integers(0, 2**32))
@pytest.mark.parametrize(("scheme", "bits", "granularity"), WIDTHS)
def test_what_was_coded_is_decoded(
    scheme: str, bits: int, granularity: str, rows: int, columns: int, seed: int
) -> None:
    group = row_group(scheme, bits, granularity, rows, columns)
    tensor = few_codes(group, seed)
    held, stored = entropy_code("codes", tensor, group)
    assert len(stored.data) <= len(tensor.data)
    if held == "codes":
        assert stored == tensor
    else:
        assert (held, stored.dtype, stored.shape) == (coded_name("codes"), "U8", (len(stored.data),))
        assert decode(held, memoryview(stored.data), group) == tensor.data


def test_a_group_of_several_pieces() -> None:
    """More codes than are decoded at once."""
    group = row_group("codebook", 3, "matrix", 3000, 301)
    tensor = few_codes(group, 1)
    _, stored = entropy_code("codes", tensor, group)
    assert decode(NAME, memoryview(stored.data), group) == tensor.data


def test_the_stream_of_the_specification() -> None:
    """Three bits take four of a stream, a plane's bit is the code's, and parameters are not coded."""
    group = row_group("codebook", 3, "matrix", 1, 9)
    stream = memoryview(deflated(bytes([0x21, 0x43, 0x65, 0x07, 0x01])))
    assert decode(NAME, stream, group) == pack_row([1, 2, 3, 4, 5, 6, 7, 0, 1], 3)
    binary = row_group("binary", 2, "row", 1, 3)
    assert decode(NAME, memoryview(deflated(bytes([0b00100111]))), binary) == bytes([0b011, 0b101])


GROUP = row_group("codebook", 3, "matrix", 4, 9)
CONTENT = random.Random(2).randbytes(4 * 5)
SOUND = bytes(byte & 0x77 if index % 5 < 4 else byte & 0x07 for index, byte in enumerate(CONTENT))
STREAMS = {
    "nothing": (b"", "more than"),
    "no deflate": (b"\xff" * 20, "not a deflate stream"),
    "cut off": (deflated(SOUND)[:-4], "fewer bytes"),
    "without an end": (zlib.compressobj(wbits=-15).compress(b"") + b"\x00\x14\x00\xeb\xff" + SOUND, "without an end"),
    "too short": (deflated(SOUND[:-1]), "fewer bytes"),
    "too long": (deflated(SOUND + b"\0"), "more bytes"),
    "bytes after it": (deflated(SOUND) + b"\0", "after the end"),
    "a code too large": (deflated(b"\x08" + SOUND[1:]), "more than 3 bits"),
    "bits after a row": (deflated(SOUND[:4] + b"\x10" + SOUND[5:]), "after the last code"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_broken_stream_is_named(name: str) -> None:
    stream, reason = STREAMS[name]
    assert decode(NAME, memoryview(deflated(SOUND)), GROUP)
    with pytest.raises(ModelFileError, match=rf"{NAME}.*{reason}"):
        decode(NAME, memoryview(stream), GROUP)


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    """A stream that claims 16 TiB: allocating them would fail the test in another way."""
    group = row_group("uniform", 8, "row", 1 << 24, 1 << 16)
    stream = deflated(bytes(1 << 20))
    with pytest.raises(ModelFileError, match=f"more than {MAXIMUM_EXPANSION} times"):
        decode(NAME, memoryview(stream), group)


def test_a_matrix_that_would_be_refused_is_not_coded() -> None:
    group = row_group("uniform", 8, "row", 100, 100)
    zeros = StoredTensor("I8", (100, 100), bytes(10_000))
    assert entropy_code("codes", zeros, group) == ("codes", zeros)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("coded") / "hostile.pocketmt"


def frequent_codes() -> dict[str, StoredTensor]:
    """The sample of every scheme, with code tensors of equal bytes, which entropy coding makes smaller."""
    tensors = scheme_sample.tensors()
    matrices = check_manifest(dict(scheme_sample.MANIFEST)).matrices
    for matrix, groups in matrices.items():
        for index, group in enumerate(groups):
            name = f"{matrix}.{index}.{group.form.code_tensor}"
            old = tensors[name]
            tensors[name] = StoredTensor(old.dtype, old.shape, bytes(len(old.data) - 1) + old.data[-1:])
    return tensors


def coded_tensors() -> dict[str, StoredTensor]:
    """The same, entropy-coded."""
    matrices = check_manifest(dict(CODED_MANIFEST)).matrices
    groups = {
        f"{matrix}.{index}.{group.form.code_tensor}": group
        for matrix, each in matrices.items()
        for index, group in enumerate(each)
    }
    return dict(
        entropy_code(name, tensor, groups[name]) if name in groups else (name, tensor)
        for name, tensor in frequent_codes().items()
    )


def coded_sample(path: Path) -> bytes:
    """Write the sample, as it is before the whole of it is compressed."""
    write_model(path, CODED_MANIFEST, coded_tensors(), sample.VOCABULARY)
    path.write_bytes(lzma.decompress(path.read_bytes()))
    return path.read_bytes()


def test_a_coded_file(path: Path) -> None:
    content = coded_sample(path)
    check_schema(content)
    with open_model(path) as file:
        assert len(file.coded) > 3
        for name, tensor in frequent_codes().items():
            assert (*file.layout(name), bytes(file.data(name))) == (tensor.dtype, tensor.shape, tensor.data)
            assert (name in file.tensors) is (name not in file.coded)
    report = inspect_model(path)
    assert report.matrix_bytes + report.vector_bytes + report.vocabulary_bytes + report.container_bytes == len(content)
    assert any("entropy-coded" in matrix.scheme for matrix in report.matrices)


def test_truncated_and_bit_flipped(path: Path) -> None:
    """With and without a digest that fits; in streams, above all."""
    content = coded_sample(path)
    header: Any
    header, data = sample.split(content)
    start = len(content) - len(data)
    for length in range(0, len(content), 23):
        refused(path, content[:length])
    for name in header:
        if name.endswith(".deflate"):
            begin, end = header[name]["data_offsets"]
            for bit in range(8 * begin, 8 * end, 3):
                at = start + bit // 8
                flipped = content[:at] + bytes([content[at] ^ 1 << bit % 8]) + content[at + 1 :]
                refused(path, flipped, "the digest does not match")
                refused_or_sound(path, sample.sealed(flipped))


def test_lies_about_coding(path: Path) -> None:
    header, data = sample.split(coded_sample(path))
    manifest = sample.manifest_of(header)
    coded = next(name for name in header if name.endswith(".deflate"))

    def renamed(to: str) -> dict[str, object]:
        return {to if name == coded else name: entry for name, entry in header.items()}

    def with_entry(**changes: object) -> dict[str, object]:
        entry = header[coded]
        assert isinstance(entry, dict)
        return {**header, coded: {**entry, **changes}}

    with open_model(path) as file:
        size = file.tensors[coded].size
    without = {name: value for name, value in manifest.items() if name != "coding"}
    for hostile, reason in (
        (sample.with_manifest(header, without), coded.removesuffix(".deflate") + "' is missing"),
        (sample.with_manifest(header, {**manifest, "coding": "rans"}), "coding 'rans' is unknown.*Install a newer"),
        (sample.with_manifest(header, {**manifest, "coding": 1}), "coding 1 is unknown"),
        (renamed(coded.removesuffix(".deflate")), "expected"),
        (renamed("embedding.weight.0.alphas.deflate"), "missing|not part"),
        (with_entry(dtype="I8"), "not a row of U8"),
        (with_entry(shape=[1, size]), "not a row of U8"),
        (with_entry(shape=[size + 1]), "data_offsets hold"),
    ):
        refused(path, sample.join(hostile, data), reason)


def test_a_tensor_cannot_be_there_twice(path: Path) -> None:
    tensors = coded_tensors()
    coded = next(name for name in tensors if name.endswith(".deflate"))
    plain = coded.removesuffix(".deflate")
    with pytest.raises(ModelFileError, match=f"{plain}' is not part"):
        write_model(path, CODED_MANIFEST, {**tensors, plain: frequent_codes()[plain]}, sample.VOCABULARY)
