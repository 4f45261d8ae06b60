import os
import threading
from pathlib import Path

import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.whole_file import check_output, write_together, write_whole


def test_a_file_appears_when_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with write_whole(path) as stream:
        stream.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_files_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "old").write_bytes(b"old")
    with pytest.raises(type(error)), write_together(tmp_path / "old", tmp_path / "new") as streams:
        for stream in streams:
            stream.write(b"half")
        raise error
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("old", b"old")]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    with write_whole(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_named_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with write_whole(pipe) as stream:
        stream.write(b"through")
    reader.join()
    assert read == [b"through"]
    assert pipe.is_fifo()


def test_new_files_may_be_read_by_whom_other_files_may(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with write_whole(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("name", "message"), [("", "is a folder: name the file"), (".", "is a folder"), ("missing/x", "make it first")]
)
def test_what_cannot_be_written_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        check_output(Path(name))


def test_a_folder_without_permission_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root, as whom tests may run, has every permission
    with pytest.raises(ConfigurationError, match="no permission"):
        check_output(tmp_path / "x")
