"""Configuration of all tests."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.command_server import serve, write_client
from tests.forks import start

# This profile draws the same examples in each run, so that tests pass on all machines or on none. To search for new
# examples, run `pytest --hypothesis-profile=default`; add a test for each failure that it finds.
settings.load_profile("ci")

# Kernels for GPUs run in Triton's interpreter; Triton reads this when it is imported, which PyTorch may do.
os.environ.setdefault("TRITON_INTERPRET", "1")

# The cores of the tests' process. Read before fixtures that outlast a test, some of which run a benchmark.
CORES = os.sched_getaffinity(0)

# Files that take longest. They start first: at the end, one process would be busy with them, and the others idle.
LONGEST = (
    "tests/distributed/test_ray.py",
    "tests/native/test_aarch64.py",
    "tests/documentation/test_pages.py",
    "tests/engine/text/test_real_text.py",
    "tests/compression/activations/test_estimation.py",
    "tests/serve/test_load.py",
    "tests/serve/test_page.py",
    "tests/training/test_run.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first, in this order."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))


def pytest_configure() -> None:
    """Restore the handlers of signals that some tests send: scripts and nohup disable them for background processes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Undo a number of threads that the code under test has set: several wait for one another in all later tests."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@pytest.fixture(autouse=True)
def same_cores() -> Iterator[None]:
    """Undo a pin to one core: benchmarks pin their process, and all later tests would run on that core."""
    yield
    os.sched_setaffinity(0, CORES)


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


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `pocketmt` program that starts in milliseconds."""
    folder = tmp_path_factory.mktemp("commands")
    path = folder / "socket"
    server = start(serve, str(path))
    try:
        deadline = time.monotonic() + 120
        while not path.exists() and server.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert path.exists(), "the server of commands did not start"
        write_client(folder / "pocketmt", path)
        yield folder
    finally:
        server.kill()
        server.join()
