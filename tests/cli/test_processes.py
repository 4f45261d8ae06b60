"""The process of a command: early signals, closed pipes, full disks and folders that are in use."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.compression.tiny_run import write_tiny_run

from .conftest import Run, command_line


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [(signal.SIGINT, 130, b"interrupted\n"), (signal.SIGTERM, 143, b""), (signal.SIGHUP, 129, b"")],
)
@pytest.mark.parametrize("module", ["click", "sentencepiece", "torch"])
def test_a_signal_during_an_import_shows_no_traceback(
    pocketmt: Run, tmp_path: Path, tiny_run: Path, number: signal.Signals, status: int, message: bytes, module: str
) -> None:
    # A module of that name that sends the signal when it is imported.
    (tmp_path / f"{module}.py").write_text(f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(9)\n")
    command = ("pack", tiny_run, "-o", tmp_path / "x.pocketmt") if module == "torch" else ("translate",)
    answer = pocketmt(*command, environment={"PYTHONPATH": str(tmp_path)})
    assert answer.returncode == status
    assert answer.stderr.lstrip() == message
    assert not (tmp_path / "x.pocketmt").exists()


def test_an_ignored_signal_stays_ignored(pocketmt: Run, tmp_path: Path, text: Path) -> None:
    (tmp_path / "sentencepiece.py").write_text("import os\nos.kill(os.getpid(), 2)\nraise ImportError('not ended')\n")
    answer = pocketmt(
        "translate",
        environment={"PYTHONPATH": str(tmp_path)},
        before=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None,
    )
    assert b"not ended" in answer.stderr


@pytest.mark.parametrize(
    "arguments",
    [("compress", "--list"), ("inspect", "captions-en-de"), ("inspect", "captions-en-de", "--json"), ("-h",)],
)
def test_a_closed_pipe_ends_a_command_quietly(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        answer = subprocess.run(command_line(*arguments), stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    assert answer.stderr == b""
    assert answer.returncode in (0, 1)


@pytest.mark.parametrize("command", ["pack", "compress", "distill", "pipeline", "translate", "shortlist", "clean"])
def test_a_file_that_grows_too_large_is_named_and_not_left(
    pocketmt: Run, tiny_run: Path, tmp_path: Path, random_model: Path, command: str
) -> None:
    text, side = tmp_path / "a.en", tmp_path / "a.up"
    text.write_text("".join(f"red cat {number}\n" for number in range(3000)))
    side.write_text("".join(f"ROTE KATZE {number}\n" for number in range(3000)))
    out = tmp_path / "out"
    out.mkdir()
    arguments: dict[str, tuple[str | Path, ...]] = {
        "pack": (tiny_run, "-o", out / "x.pocketmt"),
        "compress": (tiny_run, "8bit", "-o", out / "x.pocketmt"),
        "distill": (tiny_run, "--text", text, "-b", "1", "-o", out / "x.en", out / "x.up"),
        "pipeline": (write_pipeline(tiny_run.parent), "-o", out),
        "translate": ("-m", random_model, "-b", "1", "-i", text, "-o", out / "x.up"),
        "shortlist": (random_model, "-s", text, "-t", side, "-o", out / "x.pocketmt"),
        "clean": (text, side, "-o", out / "x.en", out / "x.up", "--improbable", "0"),
    }
    answer = pocketmt(command, *arguments[command], largest_file=4096)
    assert answer.returncode == 1, answer.stderr
    last = answer.stderr.decode().splitlines()[-1]
    named = tempfile.gettempdir() if command == "shortlist" else str(out)
    assert last.startswith(f"error: {named}") and b"Traceback" not in answer.stderr
    assert not list(out.rglob("*.unfinished")) and not list(out.rglob("x.*.pocketmt"))
    assert not (out / "x.pocketmt").exists() and not (out / "x.en").exists() and not (out / "x.up").exists()


def write_pipeline(folder: Path) -> Path:
    """Write a pipeline with the run of a folder as its teacher; returns its file."""
    (folder / "train.toml").write_text(
        '[data]\nsource_language = "en"\ntarget_language = "up"\ntraining_source = "train.en"\n'
        'training_target = "train.up"\nvalidation_source = "dev.en"\nvalidation_target = "dev.up"\n'
    )
    path = folder / "pipeline.toml"
    path.write_text('name = "p"\nteachers = ["run"]\nstudent = "train.toml"\nrecipe = "8bit"\n')
    return path


@pytest.mark.parametrize("command", ["train", "compress", "distill", "pipeline"])
def test_a_folder_in_use_is_refused(pocketmt: Run, tiny_run: Path, tmp_path: Path, command: str) -> None:
    folder = tiny_run.parent
    work = tmp_path / "work"
    write_pipeline(folder)
    arguments: dict[str, tuple[str | Path, ...]] = {
        "train": (folder / "train.toml", "-o", work),
        "compress": (tiny_run, "8bit", "--folder", work, "-o", tmp_path / "x.pocketmt"),
        "distill": (tiny_run, "-t", folder / "train.en", "--folder", work, "-o", tmp_path / "x.en", tmp_path / "x.up"),
        "pipeline": (write_pipeline(folder), "-o", work),
    }
    program = "import sys; from pathlib import Path; from pocketmt.folder_lock import locked\n"
    program += "with locked(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", program, str(work)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    answer = pocketmt(command, *arguments[command])
    assert answer.returncode == 1
    assert f"error: {work}: in use by process {holder.pid} on " in answer.stderr.decode()
    assert os.listdir(tmp_path) == ["work"] and os.listdir(work) == [".lock"]
    holder.communicate()
    assert os.listdir(tmp_path) == []


def test_the_quick_end_of_a_process_calls_what_was_registered_for_it(tmp_path: Path) -> None:
    registered = tmp_path / "registered"
    program = (
        "import atexit, pathlib, sys\n"
        f"atexit.register(pathlib.Path({str(registered)!r}).touch)\n"
        "import pocketmt.cli.process as process\n"
        "sys.argv = ['pocketmt', 'translate']\n"
        "try:\n    process.main()\nfinally:\n    print('an orderly end')\n"
    )
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, input="A dog runs.\n", capture_output=True, text=True, check=True)
    assert answer.stdout.count("\n") == 1 and "orderly" not in answer.stdout
    assert registered.exists()


@pytest.mark.parametrize("module", ["multiprocessing", "torch"])
def test_a_process_with_others_to_end_ends_in_order(module: str) -> None:
    program = (
        "import sys, types\n"
        f"sys.modules[{module!r}] = types.ModuleType({module!r})\n"
        "import pocketmt.cli.process as process\n"
        "sys.argv = ['pocketmt', '--version']\n"
        "try:\n    process.main()\nfinally:\n    print('an orderly end')\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.endswith("an orderly end\n")
