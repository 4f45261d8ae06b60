"""The unit of systemd and the image of Docker: both are run where the machine can, and skipped elsewhere."""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pocketmt.engine.bundled import resolve_model

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "packaging" / "pocketmt.service"
MOST_EXPOSURE = 20  # tenths, as `systemd-analyze security` counts: 0 is nothing, 100 is a service without limits
HAS_SYSTEMD = Path("/run/systemd/system").is_dir() and os.geteuid() == 0


def command(*arguments: str | Path) -> str:
    """Run a command that must succeed; returns what it prints."""
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments[:3]}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def has_docker() -> bool:
    """Whether there is Docker, and its daemon answers."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=30).returncode == 0


def assert_translates(port: int, seconds: float = 60) -> None:
    """The server at a port of this machine translates, once it has started."""
    fields = json.dumps({"q": "Two dogs.", "source": "en", "target": "de"})
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("POST", "/translate", fields, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert json.loads(answer.read()) == {"translatedText": "Zwei Hunde."}
            return
        except OSError:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.5)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with the program of this environment, and another port."""
    program = Path(sys.executable).with_name("pocketmt")
    text = UNIT.read_text(encoding="utf-8").replace("/opt/pocketmt/bin/pocketmt", str(program))
    text = re.sub(r"(ExecStart=.*)", r"\1 --port 5099", text)
    assert str(program) in text and "--port 5099" in text
    path = tmp_path / "pocketmt-test.service"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing: apt install systemd")
def test_systemd_accepts_the_unit(unit: Path) -> None:
    assert command("systemd-analyze", "verify", unit) == ""
    command("systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSURE}", unit)


@pytest.fixture
def service(unit: Path) -> Iterator[str]:
    """The unit, installed until the next start of the machine, with the bundled model."""
    installed = Path("/run/systemd/system") / unit.name
    # The service has no access to the folders of users.
    text = unit.read_text(encoding="utf-8").replace("ProtectHome=yes", "ProtectHome=read-only")
    installed.write_text(text.replace("/var/lib/pocketmt", str(resolve_model("captions-en-de"))), encoding="utf-8")
    try:
        command("systemctl", "daemon-reload")
        yield unit.name
    finally:
        subprocess.run(["systemctl", "stop", unit.name], capture_output=True, check=False)
        installed.unlink()
        command("systemctl", "daemon-reload")


@pytest.mark.skipif(not HAS_SYSTEMD, reason="needs root on a machine that systemd has started")
def test_systemd_runs_the_unit(service: str) -> None:
    command("systemctl", "start", service)
    assert_translates(5099)
    command("systemctl", "stop", service)
    assert command("systemctl", "show", "--property=Result", service).strip() == "Result=success"


def patterns(name: str) -> set[str]:
    """Return the patterns of a file of ignored paths, without marks of folders."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line.removeprefix("**/").strip("/") for line in lines if line and not line.startswith("#")}


def test_docker_is_not_sent_what_make_and_tools_create() -> None:
    assert patterns(".gitignore") <= patterns(".dockerignore")


@pytest.mark.skipif(not has_docker(), reason="docker is missing, or its daemon does not answer")
@pytest.mark.timeout(1200)  # compiles the engine
def test_docker_runs_the_image() -> None:
    image = "pocketmt-test"
    command("docker", "build", "--quiet", "--build-arg", "EXTRAS=[serve]", "--tag", image, ROOT)
    options = ("--rm", "--detach", "--read-only", "--tmpfs", "/tmp", "--publish", "127.0.0.1:5098:5000")
    container = command("docker", "run", *options, image, "serve", "--host", "0.0.0.0").strip()
    try:
        assert_translates(5098)
        start = time.monotonic()
        command("docker", "stop", "--time", "30", container)
        assert time.monotonic() - start < 30, "it did not end when it was told to"
    finally:
        subprocess.run(["docker", "rm", "--force", container], capture_output=True, check=False)
