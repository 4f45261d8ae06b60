import errno
import lzma
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.writer import StoredTensor, check_model_output, write_model
from tests.model_file import sample

# A file of another program in the same container.
OTHER_WEIGHTS: Final = (56).to_bytes(8, "little") + b'{"__metadata__":{"format":"pt"}}'.ljust(56)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model file alone in its folder."""
    path = tmp_path / "model.pocketmt"
    sample.write_sample(path)
    return path


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Whatever happens inside, the file stays as it was and alone in its folder."""
    before = path.read_bytes()
    yield
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def write(path: Path, **changes: StoredTensor) -> int:
    return write_model(path, sample.MANIFEST, {**sample.tensors(seed=1), **changes}, sample.VOCABULARY)


def test_it_returns_the_size_and_leaves_one_file(path: Path) -> None:
    assert write(path) == path.stat().st_size
    assert list(path.parent.iterdir()) == [path]
    with open_model(path) as file:
        assert bytes(file.data(sample.PLAIN)) == sample.tensors(seed=1)[sample.PLAIN].data


def test_the_same_content_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.pocketmt"
    assert sample.write_sample(other) == path.read_bytes()


def test_permissions_follow_the_users_mask(path: Path) -> None:
    new = path.with_name("new.pocketmt")
    before = os.umask(0o027)
    try:
        write(new)
    finally:
        os.umask(before)
    assert new.stat().st_mode & 0o777 == 0o640


def test_a_reader_keeps_the_old_file_while_a_new_one_is_written(path: Path) -> None:
    with open_model(path) as file:
        write(path)
        assert bytes(file.data(sample.PLAIN)) == sample.tensors()[sample.PLAIN].data


def test_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with untouched(path), pytest.raises(ModelFileError, match=r"model.pocketmt: .*No space left.*free some space"):
        write(path)


@pytest.mark.parametrize("limit", [0, 1, 1000, 5000])
def test_a_write_that_stops_halfway(path: Path, limit: int) -> None:
    """A real short write: the operating system refuses to let the file grow beyond the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with untouched(path), pytest.raises(ModelFileError, match="File too large"):
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_interrupted(path: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, function, interrupt)
    with untouched(path), pytest.raises(KeyboardInterrupt):
        write(path)


def test_what_no_reader_would_take_is_not_written(path: Path) -> None:
    bias = sample.tensors()[sample.BIAS]
    wrong = StoredTensor("F32", bias.shape, bytes.fromhex("0000c07f") * bias.shape[0])
    with untouched(path), pytest.raises(ModelFileError, match=rf"model.pocketmt: not written.*'{sample.BIAS}'"):
        write(path, **{sample.BIAS: wrong})
    with untouched(path), pytest.raises(ModelFileError, match="'surprise' is not part"):
        write(path, surprise=StoredTensor("U8", (1,), b"a"))


def test_folders_that_cannot_hold_it(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent/model.pocketmt: folder .*absent does not exist"):
        write(tmp_path / "absent" / "model.pocketmt")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(ConfigurationError, match=r"folder is a folder: name the file"):
        write(folder)
    with pytest.raises(ModelFileError, match=r"/dev/null is no regular file"):
        write(Path("/dev/null"))
    assert sorted(tmp_path.iterdir()) == [folder, path]


@pytest.mark.parametrize(
    "content", [b"[data]\n", b"\xfd7zXZ\x00 and more", lzma.compress(b"text " * 99), OTHER_WEIGHTS]
)
def test_a_file_that_is_no_model_file_is_not_replaced(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with (
        untouched(path),
        pytest.raises(ConfigurationError, match=r"model.pocketmt exists and is not a model file: name"),
    ):
        write(path)


def test_model_files_and_empty_files_are_replaced(path: Path) -> None:
    whole = path.read_bytes()
    for content in (b"", whole[:-1], lzma.compress(whole), lzma.compress(whole)[:-9]):
        path.write_bytes(content)
        check_model_output(path)
    write(path)
    assert path.stat().st_size == len(whole)
