"""Shards: a run resumes, damage is found, and folders of another text or model are refused."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import pytest

from pocketmt.distributed.blocks import Block, Result, cut
from pocketmt.distributed.shards import Shards
from pocketmt.distributed.storage import open_address, open_storage
from pocketmt.errors import ConfigurationError, DataError

ROWS = [(f"line {number}",) for number in range(10)]


def fill(location: str, rows: list[tuple[str]], model: str = "a", stop: int = 99) -> tuple[list[int], list[str]]:
    """Make the missing shards, at most a number of them; return their numbers and the warnings."""
    shards = Shards(open_storage(location), location, {"model": model})
    made: list[int] = []
    warnings: list[str] = []
    for block in shards.missing(cut(rows, 4), warnings.append):
        if len(made) == stop:
            return made, warnings
        shards.store(block, Result(upper(block)))
        made.append(block.number)
    shards.write_manifest()
    return made, warnings


def upper(block: Block) -> bytes:
    return "".join(f"{line}\n" for (line,) in block.rows).upper().encode()


@pytest.fixture(params=["folder", "address"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "out") if request.param == "folder" else f"memory://{tmp_path.name}/out"


def test_the_manifest_has_the_lines_and_hashes_of_all_shards(location: str) -> None:
    assert fill(location, ROWS) == ([0, 1, 2], [])
    storage = open_storage(location)
    manifest = json.loads(storage.read("manifest.json") or b"")
    assert manifest["lines"] == 10
    assert [(shard["first_line"], shard["lines"]) for shard in manifest["shards"]] == [(1, 4), (5, 4), (9, 2)]
    contents = [storage.read(shard["file"]) or b"" for shard in manifest["shards"]]
    assert b"".join(contents) == b"".join(f"LINE {number}\n".encode() for number in range(10))
    assert [shard["sha256"] for shard in manifest["shards"]] == [hashlib.sha256(each).hexdigest() for each in contents]
    source = "".join(f"{line}\n" for (line,) in ROWS[:4]).encode()
    assert manifest["shards"][0]["source_sha256"] == hashlib.sha256(source).hexdigest()


def test_a_run_resumes_with_the_missing_shards(location: str) -> None:
    assert fill(location, ROWS, stop=1) == ([0], [])
    assert open_storage(location).read("manifest.json") is None
    assert fill(location, ROWS) == ([1, 2], [])
    assert fill(location, ROWS) == ([], [])


@pytest.mark.parametrize("content", [b"", b"LINE 4\nLINE 5\n", None])
def test_a_damaged_shard_is_named_and_made_again(tmp_path: Path, content: bytes | None) -> None:
    fill(str(tmp_path), ROWS)
    shard = tmp_path / "000001.txt"
    good = shard.read_bytes()
    if content is None:
        shard.unlink()
    else:
        shard.write_bytes(content)
    made, (warning,) = fill(str(tmp_path), ROWS)
    assert made == [1]
    assert f"{shard}: damaged: lines 5 to 8 are done again" in warning
    assert shard.read_bytes() == good


def test_a_damaged_record_is_as_a_missing_shard(tmp_path: Path) -> None:
    fill(str(tmp_path), ROWS)
    (tmp_path / "records" / "000002.json").write_text('{"file": "000')
    assert fill(str(tmp_path), ROWS) == ([2], [])


@pytest.mark.parametrize("changed", [[*ROWS[:5], ("other",), *ROWS[6:]], ROWS[:9], ROWS[:8], [*ROWS, ("more",)]])
def test_another_text_is_refused(tmp_path: Path, changed: list[tuple[str]]) -> None:
    fill(str(tmp_path), ROWS)
    with pytest.raises(ConfigurationError, match=r"holds shards of another text.*choose another folder"):
        fill(str(tmp_path), changed)


def test_a_text_that_became_shorter_after_an_interruption_is_refused(location: str) -> None:
    storage = open_storage(location)
    shards = Shards(storage, location, {"model": "a"})
    blocks = list(shards.missing(cut(ROWS, 2), print))
    for number in (0, 4):  # Blocks are finished in any order.
        shards.store(blocks[number], Result(upper(blocks[number])))
    shards = Shards(storage, location, {"model": "a"})
    missing = shards.missing(cut(ROWS[:6], 2), print)
    assert [next(missing).number, next(missing).number] == [1, 2]
    with pytest.raises(
        ConfigurationError, match=r"another text \(the text has become shorter\): choose another folder"
    ):
        next(missing)


@pytest.mark.parametrize("name", ["000003.txt", "records/000003.json"])
def test_a_shard_or_a_record_alone_shows_that_the_text_became_shorter(location: str, name: str) -> None:
    fill(location, ROWS)
    open_storage(location).write(name, b"interrupted")
    with pytest.raises(ConfigurationError, match="the text has become shorter"):
        fill(location, ROWS)


def test_another_model_is_refused(tmp_path: Path) -> None:
    fill(str(tmp_path), ROWS)
    with pytest.raises(ConfigurationError, match="holds shards with another model"):
        fill(str(tmp_path), ROWS, model="b")


@pytest.mark.parametrize(
    ("name", "found"),
    [("manifest.json", "manifest.json"), ("records/notes", "records"), ("000004.txt", "000004.txt")],
)
def test_files_of_somebody_else_are_refused_and_kept(location: str, name: str, found: str) -> None:
    storage = open_storage(location)
    storage.write(name, b"mine")
    with pytest.raises(ConfigurationError, match=rf"holds {found} but no settings\.json.*choose another folder"):
        fill(location, ROWS)
    assert storage.read(name) == b"mine"


@pytest.mark.parametrize("name", ["notes.txt", "000004.de", "0004.txt"])
def test_files_of_other_names_stay(location: str, name: str) -> None:
    storage = open_storage(location)
    storage.write(name, b"mine")
    assert fill(location, ROWS) == ([0, 1, 2], [])
    assert storage.read(name) == b"mine"


def test_addresses_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing\.en: no such file"), open_address(f"file://{tmp_path}/missing.en"):
        pass
    with pytest.raises(ConfigurationError, match="nothing://a: "):
        open_storage("nothing://a")


class Unreadable(io.BytesIO):
    """A file whose connection is lost."""

    def read(self, size: int | None = -1) -> bytes:
        raise RuntimeError("the connection is lost")


class Failing(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A file system whose package has exceptions of any type."""

    protocol = "failing"

    def _open(self, path: str, *arguments: Any, **options: Any) -> io.BytesIO:
        if path.endswith("secret"):
            raise RuntimeError("no credentials")
        return Unreadable()


@pytest.mark.parametrize(("name", "reason"), [("secret", "no credentials"), ("text.en", "the connection is lost")])
def test_any_error_at_an_address_is_explained(name: str, reason: str) -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)
    message = f"failing://bucket.*: {reason}: check the address"
    with pytest.raises(DataError, match=message), open_address(f"failing://bucket/{name}") as stream:
        stream.read(1)
    with pytest.raises(DataError, match=message):
        open_storage("failing://bucket").read(name)


def test_errors_of_a_reader_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("a line\n")
    with pytest.raises(KeyError), open_address(f"file://{tmp_path}/text.en") as stream:
        assert stream.read() == b"a line\n"
        raise KeyError("of the reader")


def test_an_error_in_writing_to_an_address_is_explained() -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)
    with pytest.raises(DataError, match="failing://bucket: no credentials: check the address"):
        open_storage("failing://bucket").write("secret", b"text")


def test_a_run_that_ends_before_its_first_shard_leaves_no_settings(location: str) -> None:
    assert fill(location, ROWS, model="wrong", stop=0) == ([], [])
    assert open_storage(location).read("settings.json") is None
    assert fill(location, ROWS) == ([0, 1, 2], [])
    assert open_storage(location).read("settings.json") == b'{\n  "model": "a"\n}\n'


def test_a_text_without_lines_has_settings_and_a_manifest(location: str) -> None:
    assert fill(location, []) == ([], [])
    assert open_storage(location).read("settings.json") is not None
    assert json.loads(open_storage(location).read("manifest.json") or b"")["shards"] == []
