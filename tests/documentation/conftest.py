"""Fixtures that run the pages of the documentation."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.command_server import write_client


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `pocketmt` program that starts in milliseconds."""
    folder = tmp_path_factory.mktemp("commands")
    path = folder / "socket"
    # More threads would wait for one another: the models of the tests are too small for them.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen([sys.executable, Path(__file__).with_name("command_server.py"), path], env=environment)
    try:
        deadline = time.monotonic() + 120
        while not path.exists() and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert path.exists(), "the server of commands did not start"
        write_client(folder / "pocketmt", path)
        yield folder
    finally:
        server.terminate()
        server.wait()
