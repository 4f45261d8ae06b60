"""All commands: their help, their errors and their imports."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
import torch

from pocketmt.cli.main import pocketmt_command, run

from .conftest import Run

COMMANDS = [
    "benchmark",
    "clean",
    "compare",
    "compress",
    "distill",
    "evaluate",
    "export",
    "import",
    "inspect",
    "names",
    "pack",
    "pipeline",
    "sensitivity",
    "serve",
    "shortlist",
    "train",
    "translate",
]


def test_all_commands_are_listed_here() -> None:
    assert sorted(pocketmt_command.commands) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_examples(pocketmt: Run, command: str) -> None:
    answer = pocketmt(command, "--help")
    assert answer.returncode == 0
    _, _, examples = answer.stdout.decode().partition("Examples:\n")
    assert f"pocketmt {command} " in examples


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_a_usage_error(pocketmt: Run, command: str) -> None:
    answer = pocketmt(command, "--no-such-option")
    assert answer.returncode == 2
    assert b"--no-such-option" in answer.stderr


def test_an_unknown_command_is_a_usage_error(pocketmt: Run) -> None:
    answer = pocketmt("translat")
    assert answer.returncode == 2
    assert b"translat" in answer.stderr


def test_the_command_line_imports_no_large_package() -> None:
    heavy = {"torch", "numpy", "msgspec", "rich", "sacrebleu", "safetensors", "lightning_fabric", "sentencepiece"}
    program = (
        "import sys; from pocketmt.cli.main import pocketmt_command\n"
        "assert all(pocketmt_command.commands.values())\n"  # Each is imported when it is asked for.
        "print(*sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert heavy.isdisjoint(answer.stdout.split())


@pytest.mark.parametrize("module", ["pocketmt.engine", "pocketmt.model_file", "pocketmt.text.vocabulary"])
def test_the_runtime_imports_neither_pytorch_nor_numpy(module: str) -> None:
    heavy = {"torch", "numpy", "msgspec", "rich", "safetensors", "lightning_fabric"}
    program = f"import sys, {module}; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert module in answer.stdout.split()
    assert heavy.isdisjoint(answer.stdout.split())


def test_translating_imports_neither_large_packages_nor_what_few_translations_need(random_model: Path) -> None:
    program = (
        "import sys; from pocketmt.cli.main import run\n"
        f"status = run(['translate', '-m', {str(random_model)!r}])\n"
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], input="a bird\n", capture_output=True, text=True, check=True
    )
    assert answer.stdout.count("\n") == 1
    assert {"torch", "numpy", "msgspec", "rich"}.isdisjoint(answer.stderr.split())
    rare = {
        *("text.languages", "text.terms", "engine.alignment", "engine.results", "engine.futures", "engine.terms"),
        *("text.iso_639", "model_file.language_pieces", "model_file.architecture.lstm"),
    }
    assert {f"pocketmt.{name}" for name in rare}.isdisjoint(answer.stderr.split())


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("msgspec", ["train", "c.toml", "-o", "run"], "train"),
        ("numpy", ["import", "missing", "-o", "a.pocketmt"], "interop"),
        ("numpy", ["export", "everyday-en-de", "--to", "marian", "-o", "folder"], "train"),
        ("numpy", ["clean", "missing.en", "missing.de", "-o", "a.en", "a.de"], "clean"),
    ],
)
def test_a_missing_extra_is_reported_with_its_installation(
    pocketmt: Run, tmp_path: Path, package: str, arguments: list[str], extra: str
) -> None:
    # A module of that name that fails like a missing one.
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('No such module', name={package!r})")
    answer = pocketmt(*arguments, environment={"PYTHONPATH": str(tmp_path)})
    assert answer.returncode == 1
    assert answer.stderr.decode().endswith(f"needs the package {package}: pip install 'pocketmt[{extra}]'\n")
    assert answer.stderr.count(b"\n") == 1


def test_a_device_without_memory_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def command() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    assert run([], command) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: the device is out of memory") and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "advice"), [("train", "train with fewer tokens in a batch"), ("inspect", "give it less at once")]
)
def test_advice_on_memory_is_for_the_command(command: str, advice: str, capsys: pytest.CaptureFixture[str]) -> None:
    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("name")
    def fail(name: str) -> None:
        raise MemoryError

    assert run([command], fail) == 1
    assert capsys.readouterr().err == f"error: out of memory: close other programs, or {advice}\n"


def test_a_removed_current_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    status = run(["names", "everyday-en-de", "--like", "captions-en-de", "-o", "out.pocketmt"])
    monkeypatch.chdir(tmp_path)
    assert status == 1
    assert capsys.readouterr().err == "error: the current folder has been removed: change to another folder\n"


@pytest.mark.parametrize("kind", [RuntimeError, EOFError])
def test_other_faults_of_the_program_are_not_hidden(kind: type[Exception]) -> None:
    @click.command()
    def command() -> None:
        raise kind("a fault")

    with pytest.raises(kind, match="a fault"):
        run([], command)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, click.Abort])
def test_an_interruption_is_reported_as_such(kind: type[BaseException], capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def command() -> None:
        raise kind

    assert run([], command) == 130
    assert capsys.readouterr().err.strip() == "interrupted"
