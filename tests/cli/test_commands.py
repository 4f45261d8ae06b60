"""What holds for every command: its help, its errors, what it imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from pocketmt.cli.main import pocketmt_command

from .conftest import Run

COMMANDS = [
    *(
        "attention",
        "benchmark",
        "clean",
        "compress",
        "distill",
        "evaluate",
        "inspect",
        "pack",
        "sensitivity",
        "shortlist",
        "student",
        "train",
        "translate",
    )
]


def test_these_are_all_the_commands() -> None:
    assert sorted(pocketmt_command.commands) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_each_help_has_examples_of_its_command(pocketmt: Run, command: str) -> None:
    answer = pocketmt(command, "--help")
    assert answer.returncode == 0
    _, _, examples = answer.stdout.decode().partition("Examples:\n")
    assert f"pocketmt {command} " in examples


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_wrong_usage(pocketmt: Run, command: str) -> None:
    answer = pocketmt(command, "--no-such-option")
    assert answer.returncode == 2
    assert b"--no-such-option" in answer.stderr


def test_an_unknown_command_is_wrong_usage(pocketmt: Run) -> None:
    answer = pocketmt("translat")
    assert answer.returncode == 2
    assert b"translat" in answer.stderr


def test_the_command_line_imports_nothing_that_takes_long() -> None:
    heavy = {"torch", "numpy", "msgspec", "rich", "sacrebleu", "safetensors", "lightning_fabric", "sentencepiece"}
    program = "import sys, pocketmt.cli.main; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert heavy.isdisjoint(answer.stdout.split())


@pytest.mark.parametrize("module", ["pocketmt.engine", "pocketmt.model_file", "pocketmt.text.vocabulary"])
def test_the_runtime_imports_neither_pytorch_nor_numpy(module: str) -> None:
    heavy = {"torch", "numpy", "msgspec", "rich", "safetensors", "lightning_fabric"}
    program = f"import sys, {module}; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert module in answer.stdout.split()
    assert heavy.isdisjoint(answer.stdout.split())


def test_translating_imports_neither_pytorch_nor_numpy(random_model: Path) -> None:
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


def test_a_missing_extra_says_how_to_install_it(pocketmt: Run, tmp_path: Path) -> None:
    # A module of that name that fails as a missing one does.
    (tmp_path / "msgspec.py").write_text("raise ModuleNotFoundError(\"No module named 'msgspec'\", name='msgspec')")
    answer = pocketmt("train", "c.toml", "-o", "run", environment={"PYTHONPATH": str(tmp_path)})
    assert answer.returncode == 1
    assert answer.stderr.decode().endswith("pip install 'pocketmt[train]'\n")
    assert answer.stderr.count(b"\n") == 1
