"""Configuration of all tests."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# This profile draws the same examples in each run, so that tests pass on all machines or on none. To search for new
# examples, run `pytest --hypothesis-profile=default`; add a test for each failure that it finds.
settings.load_profile("ci")


def pytest_configure() -> None:
    """Restore the handler of Ctrl-C, which some tests send: scripts disable it for background processes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 512 kB; the test is skipped if this user cannot mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user cannot mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)
