"""Files that appear under their names only when they are complete."""

import os
import stat
import threading
from pathlib import Path

import pytest

from pocketmt.atomic_file import atomic_write, check_output, write_together
from pocketmt.errors import ConfigurationError


def test_a_file_appears_when_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with atomic_write(path) as stream:
        stream.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_only_the_old_files(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "old").write_bytes(b"old")
    with pytest.raises(type(error)), write_together(tmp_path / "old", tmp_path / "new") as streams:
        for stream in streams:
            stream.write(b"half")
        raise error
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("old", b"old")]


def test_symbolic_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_named_pipe_is_written_to_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with atomic_write(pipe) as stream:
        stream.write(b"through")
    reader.join()
    assert read == [b"through"]
    assert pipe.is_fifo()


def test_new_files_have_the_permissions_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with atomic_write(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_write(path) as stream:
        assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == mode
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(
    ("name", "message"), [("", "is a folder: name the file"), (".", "is a folder"), ("missing/x", "make it first")]
)
def test_a_path_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        check_output(Path(name))


def test_a_folder_without_write_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # Tests may run as root, who has all permissions.
    with pytest.raises(ConfigurationError, match="no permission"):
        check_output(tmp_path / "x")
