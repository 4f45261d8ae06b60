"""Files that appear under their names only when they are complete."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pocketmt.atomic_file import atomic_write, check_not_read, check_output, remove_unfinished_outputs, write_together
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


@pytest.mark.parametrize("name", ["new", "new [1]*", "n" * 255, "ü" * 127])
def test_what_a_killed_process_has_left_is_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(name)
    others = [".new.txt.0a1b2c3d.unfinished", ".new 1x.0a1b2c3d.unfinished", "new.unfinished"]
    for other in others:
        (tmp_path / other).touch()
    program = (
        "import os, signal, sys; from pathlib import Path; from pocketmt.atomic_file import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / name], check=False)
    assert len(os.listdir(tmp_path)) == len(others) + 2
    remove_unfinished_outputs(tmp_path / "link", tmp_path, Path("/dev/null"))
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "link"])


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


@pytest.mark.parametrize("mode", ["wb", "ab"])
@pytest.mark.parametrize("place", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_an_open_file_of_this_process_is_written_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, mode: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "log"
    path.write_bytes(b"earlier\n")
    with path.open(mode) as log:
        log.write(b"header\n")
        log.flush()
        (tmp_path / "link").symlink_to(f"/dev/fd/{log.fileno()}")
        with atomic_write(Path(place.format(log.fileno()))) as stream:
            stream.write(b"text\n")
        log.write(b"footer\n")
    assert path.read_bytes() == (b"earlier\n" if mode == "ab" else b"") + b"header\ntext\nfooter\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "log"]


def test_an_open_file_of_another_process_is_written_at_its_end(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from pocketmt.atomic_file import atomic_write\n"
    program += "with atomic_write(Path(sys.argv[1])) as stream: stream.write(b'text\\n')"
    with (tmp_path / "log").open("ab") as log:
        log.write(b"header\n")
        log.flush()
        subprocess.run([sys.executable, "-c", program, f"/proc/{os.getpid()}/fd/{log.fileno()}"], check=True)
        log.write(b"footer\n")
    assert (tmp_path / "log").read_bytes() == b"header\ntext\nfooter\n"


def test_an_open_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").touch()
    with (tmp_path / "text").open("rb") as stream:
        place = Path(f"/dev/fd/{stream.fileno()}")
        with pytest.raises(ConfigurationError, match="not open for writing"):
            check_output(place)
    with pytest.raises(ConfigurationError, match="not open for writing"):
        check_output(place)


@pytest.mark.parametrize("name", ["x" * 234, "x" * 235, "x" * 255, "é" * 127, "x" + "é" * 127])
def test_any_name_that_the_file_system_takes_can_be_written(tmp_path: Path, name: str) -> None:
    with atomic_write(tmp_path / name) as stream:
        assert len(os.fsencode(Path(stream.name).name)) <= 255
        Path(stream.name).name.encode()
        stream.write(b"whole")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"whole")]


def test_a_name_that_is_too_long_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"), atomic_write(tmp_path / ("x" * 256)):
        raise AssertionError("the work has begun")


def test_new_files_have_the_permissions_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with atomic_write(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o640])
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
    ("name", "message"),
    [
        ("", "is a folder: name the file"),
        (".", "is a folder"),
        ("missing/x", "folder missing does not exist: create it first"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        check_output(Path(name))


def test_a_read_only_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    # Tests may run as root, who has all permissions.
    monkeypatch.setattr(os, "access", lambda each, mode: Path(each) != path)
    with pytest.raises(ConfigurationError, match="old is read-only: name another file"):
        check_output(path)
    with pytest.raises(ConfigurationError, match="read-only"), atomic_write(path):
        raise AssertionError("the work has begun")
    assert path.read_bytes() == b"old"
    check_output(tmp_path / "new")


def test_a_folder_without_write_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # Tests may run as root, who has all permissions.
    with pytest.raises(ConfigurationError, match="no permission"):
        check_output(tmp_path / "x")


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ConfigurationError, match="loop is in a loop of symbolic links: name another file to write"):
        check_output(tmp_path / "loop")
    check_not_read([tmp_path / "out"], [tmp_path / "loop"])
    (tmp_path / "dangling").symlink_to("missing/file")
    with pytest.raises(ConfigurationError, match=r"dangling: folder .*missing does not exist: create it first"):
        check_output(tmp_path / "dangling")
    (tmp_path / "new").symlink_to("file")
    with atomic_write(tmp_path / "new") as stream:
        stream.write(b"text")
    assert (tmp_path / "file").read_bytes() == b"text"
    with pytest.raises(ConfigurationError, match="file is not a folder: name another file to write"):
        check_output(tmp_path / "file" / "x")


def test_errors_name_the_file_and_not_the_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 300)
    with pytest.raises(OSError, match="File name too long") as raised, atomic_write(path):
        pass
    assert raised.value.filename == str(path)
