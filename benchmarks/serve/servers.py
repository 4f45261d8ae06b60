"""Server processes to measure: `pocketmt serve`, and LibreTranslate with the same weights."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import ROOT
from pocketmt.errors import DataError

LIBRETRANSLATE = ROOT / "build" / "libretranslate"
MODEL = "captions-en-de"
SECONDS_TO_START = 60


@dataclass
class RunningServer:
    """A server process.

    Attributes:
        name: of the program and its setting.
        place: host and port.
        process: of the program.
    """

    name: str
    place: tuple[str, int]
    process: subprocess.Popen[bytes]

    def memory(self) -> int:
        """Return the bytes that the process has in memory."""
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        """Return the most bytes that the process had in memory."""
        return self._status("VmHWM")

    def _status(self, name: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith(name)))


@contextmanager
def pocketmt_server(workers: int, model: str = MODEL, *options: str) -> Iterator[RunningServer]:
    """Run `pocketmt serve`."""
    port = free_port()
    command = Path(sys.executable).with_name("pocketmt")
    arguments: list[str | Path] = [command, "serve", model, "--port", str(port), "--workers", str(workers), *options]
    yield from _running(f"PocketMT, {workers} workers", port, arguments, {})


@contextmanager
def libretranslate_server(folder: Path, workers: int, compute_type: str) -> Iterator[RunningServer]:
    """Run LibreTranslate with the package that `prepare_libretranslate` wrote.

    Args:
        folder: of the package.
        workers: batches that CTranslate2 computes at once, each with one thread.
        compute_type: of CTranslate2, such as "int8".
    """
    port = free_port()
    environment = {
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "ARGOS_CHUNK_TYPE": "SPACY",
        "ARGOS_COMPUTE_TYPE": compute_type,
        "ARGOS_INTER_THREADS": str(workers),
        "ARGOS_INTRA_THREADS": "1",
    }
    arguments: list[str | Path] = [LIBRETRANSLATE / "bin" / "libretranslate", "--port", str(port), "--disable-web-ui"]
    yield from _running(f"LibreTranslate, {compute_type}, {workers} workers", port, arguments, environment)


def prepare_libretranslate(folder: Path) -> None:
    """Write the bundled model as a package of Argos Translate, whose sentences a rule splits.

    LibreTranslate's usual splitter is a network that must be downloaded; a rule is faster. A second package of the
    other direction, which is never used, keeps it from asking for downloads at the start.

    Raises DataError if LibreTranslate is not installed.
    """
    if not (LIBRETRANSLATE / "bin" / "libretranslate").exists():
        raise DataError(f"{LIBRETRANSLATE}: LibreTranslate is not installed: make libretranslate")
    packages = folder / "data" / "argos-translate" / "packages"
    (folder / "cache" / "argos-translate" / "spacy" / "senter" / "model").mkdir(parents=True)
    package = packages / "en_de"
    package.mkdir(parents=True)
    pocketmt = Path(sys.executable).with_name("pocketmt")
    subprocess.run([pocketmt, "export", MODEL, "--to", "ctranslate2", "--output", package / "model"], check=True)
    shutil.copy(package / "model" / "sentencepiece.model", package)
    splitter = "import spacy, sys; spacy.blank('en').to_disk(sys.argv[1])"
    subprocess.run([LIBRETRANSLATE / "bin" / "python", "-c", splitter, package / "spacy"], check=True)
    shutil.copytree(package, packages / "de_en")
    for source, target in (("en", "de"), ("de", "en")):
        metadata = {"package_version": "1.0", "argos_version": "1.9", "from_code": source, "to_code": target}
        names = {"from_name": source, "to_name": target}
        (packages / f"{source}_{target}" / "metadata.json").write_text(json.dumps(metadata | names))


def free_port() -> int:
    """Return a port that nothing listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _running(
    name: str, port: int, arguments: list[str | Path], environment: Mapping[str, str]
) -> Iterator[RunningServer]:
    process = subprocess.Popen(
        arguments, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port, process, name)
        yield RunningServer(name, ("127.0.0.1", port), process)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], name: str) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise DataError(f"{name} did not start within {SECONDS_TO_START} seconds")
