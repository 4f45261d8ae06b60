"""A shortlist in a model file: it is read as written, every byte is counted, and wrong ones are refused."""

import lzma
import random
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.container.xz_tensor import compress
from pocketmt.model_file.report import inspect_model
from pocketmt.model_file.shortlist import StoredShortlist
from pocketmt.model_file.shortlist_encoding import Shortlist, decode_shortlist, encode_shortlist, own_sides
from pocketmt.model_file.writer import StoredTensor, write_model
from tests.model_file import sample
from tests.model_file.attack import Change, refuse_header, refused
from tests.model_file.schemas import MANIFEST_SCHEMA, check_schema

PIECES = sample.ARCHITECTURE.vocabulary_size  # 11
NONE: list[list[int]] = [[] for _ in range(PIECES)]
SHORTLIST = Shortlist([4, 9], [*NONE[:2], [5, 10], *NONE[3:7], [4, 5, 6], *NONE[8:10], [7]])
# Differences 4, 5; 5 - 9 and 5; 4 - 10, 1, 1; 1: modulo 11.
CONTENT = bytes([0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 1]) + bytes([4, 5, 7, 5, 5, 1, 1, 1])
MANIFEST: dict[str, Any] = {**sample.MANIFEST, "shortlist": {"encoding": "xz", "bytes": len(CONTENT), "frequent": 2}}


def with_shortlist(content: bytes) -> dict[str, StoredTensor]:
    compressed = compress(content)
    return {**sample.tensors(), "shortlist": StoredTensor("U8", (len(compressed),), compressed)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.pocketmt"
    write_model(path, MANIFEST, with_shortlist(CONTENT), sample.VOCABULARY)
    return path


def test_the_bytes_of_a_worked_example() -> None:
    content, stored = encode_shortlist(SHORTLIST)
    assert content == CONTENT
    assert stored.to_json() == MANIFEST["shortlist"]
    assert decode_shortlist(content, stored, own_sides(PIECES)) == SHORTLIST


def test_what_was_written_is_read(path: Path) -> None:
    with open_model(path) as file:
        assert file.stored_shortlist == StoredShortlist(len(CONTENT), 2)
        assert file.shortlist() == CONTENT


def test_a_file_without_one(tmp_path: Path) -> None:
    sample.write_sample(tmp_path / "plain.pocketmt")
    with open_model(tmp_path / "plain.pocketmt") as file:
        assert file.stored_shortlist is None and file.shortlist() is None


@pytest.mark.parametrize("size", [5, 255, 256, 257, 65_536, 65_537])
def test_any_lists_are_read_as_they_were_written(size: int) -> None:
    draw = random.Random(size)
    targets: list[list[int]] = [[] for _ in range(size)]
    for piece in (0, size - 1, *draw.sample(range(size), 4)):
        targets[piece] = sorted(draw.sample(range(size), draw.randint(0, min(size, 255))))
    shortlist = Shortlist([0, size - 1], targets)
    content, stored = encode_shortlist(shortlist)
    assert decode_shortlist(content, stored, own_sides(size)) == shortlist


def test_the_list_of_a_sentence() -> None:
    assert SHORTLIST.pieces([]) == [0, 1, 2, 3, 4, 5, 9, 10]  # eos has 5 and 10
    assert SHORTLIST.pieces([7, 10, 7]) == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10]


def test_what_every_list_has_need_not_be_stored() -> None:
    stored = Shortlist([4], [*NONE[:7], [0, 3, 4, 6], *NONE[8:]]).without_repetition()
    assert stored.targets[7] == [6]


@pytest.mark.parametrize(
    ("frequent", "targets", "reason"),
    [
        ([], NONE, "no frequent piece"),
        ([5, 4], NONE, "frequent are not ascending"),
        ([4, 11], NONE, "frequent are not ascending ids from 0 to 10"),
        ([4], [[3, 3], *NONE[1:]], "targets of piece 0 are not ascending"),
        ([4], [[-1, 3], *NONE[1:]], "targets of piece 0"),
        ([4], [list(range(256)), *([[]] * 299)], "piece 0 has 256 targets, at most 255"),
    ],
)
def test_lists_that_cannot_be(frequent: list[int], targets: list[list[int]], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        Shortlist(frequent, targets)


def test_the_published_schema_describes_it(path: Path) -> None:
    check_schema(path.read_bytes())


def test_every_byte_is_counted_once(path: Path) -> None:
    report = inspect_model(path)
    parts = (report.matrix_bytes, report.vector_bytes, report.vocabulary_bytes, report.container_bytes)
    assert report.shortlist_bytes == len(compress(CONTENT))
    assert sum(parts) + report.shortlist_bytes == report.file_bytes == path.stat().st_size
    text = report.to_text()
    assert "2 pieces for every sentence, 6 targets" in text
    assert any(line.startswith("shortlist ") and str(report.shortlist_bytes) in line for line in text.splitlines())


ATTACKS: list[tuple[object, str]] = [
    (1, "expected exactly encoding, bytes and frequent"),
    ({"encoding": "xz", "bytes": 19}, "expected exactly"),
    ({"encoding": "xz", "bytes": 19, "frequent": 2, "surprise": 1}, "expected exactly"),
    ({"encoding": "zip", "bytes": 19, "frequent": 2}, "encoding is 'zip'"),
    ({"encoding": "xz", "bytes": 2**40, "frequent": 2}, "bytes is 1099511627776"),
    ({"encoding": "xz", "bytes": True, "frequent": 2}, "bytes is True"),
    ({"encoding": "xz", "bytes": 19, "frequent": 0}, "frequent is 0"),
    ({"encoding": "xz", "bytes": 19, "frequent": 12}, "frequent is 12, expected a whole number from 1 to 11"),
    ({"encoding": "xz", "bytes": 19, "frequent": 2.0}, "frequent is 2.0"),
]


@pytest.mark.parametrize(("entry", "reason"), ATTACKS)
def test_hostile_entries(path: Path, entry: object, reason: str) -> None:
    header, data = sample.split(path.read_bytes())
    refused(path, sample.join(sample.with_manifest(header, {**MANIFEST, "shortlist": entry}), data), reason)


@pytest.mark.parametrize("entry", [entry for entry, _ in ATTACKS[:7]])  # the others depend on the vocabulary
def test_the_schema_refuses_them(entry: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        MANIFEST_SCHEMA.validate({**MANIFEST, "shortlist": entry})


DAMAGE: dict[str, tuple[Change, str]] = {
    "no tensor": (lambda header: header.update(other=header.pop("shortlist")), "'shortlist' is missing"),
    "another dtype": (lambda header: header["shortlist"].update(dtype="I8"), "'shortlist' is not a row of U8"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_headers(path: Path, damage: str) -> None:
    refuse_header(path, *DAMAGE[damage])


def test_a_tensor_that_the_manifest_does_not_name(path: Path) -> None:
    header, data = sample.split(path.read_bytes())
    refused(path, sample.join(sample.with_manifest(header, sample.MANIFEST), data), "'shortlist' is not part")


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (b"no stream at all", "'shortlist' is not an xz stream"),
        (compress(CONTENT)[:-1], "does not hold exactly the 19 bytes"),
        (compress(CONTENT) + b"\0", "does not hold exactly the 19 bytes"),
        (compress(CONTENT + b"\0"), "does not hold exactly the 19 bytes"),
        (compress(bytes(1 << 20)), "does not hold exactly the 19 bytes"),
        (compress(bytes([255]) + CONTENT[1:]), "has 19 bytes, which is not the size of 263 pieces"),
        (compress(bytes(19)), "has 19 bytes, which is not the size of 2 pieces"),
        (lzma.compress(CONTENT, format=lzma.FORMAT_ALONE), "'shortlist' is not an xz stream"),
    ],
)
def test_hostile_streams(path: Path, tensor: bytes, reason: str) -> None:
    stored = {**sample.tensors(), "shortlist": StoredTensor("U8", (len(tensor),), tensor)}
    write_model(path, MANIFEST, stored, sample.VOCABULARY)
    with open_model(path) as file, pytest.raises(ModelFileError, match=reason):
        file.shortlist()


def test_ids_in_any_order_are_in_the_list_all_the_same() -> None:
    stored = StoredShortlist(len(CONTENT), 2)
    content = CONTENT[:PIECES] + bytes([9, 6, 6, 255, 4, 0, 1, 1])
    shortlist = decode_shortlist(content, stored, own_sides(PIECES))
    assert shortlist.frequent == [4, 9]
    assert list(shortlist.targets[2]) == [1, 10]  # 4 + 6 = 10; 10 + 255 = 265 = 1 modulo 11 (265 - 264)
    assert list(shortlist.targets[7]) == [5, 6]  # 5, 5, 6
