"""The program that draws attention: its picture, table and record, and the input that it refuses."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.attention.__main__ import attention as attention_command
from benchmarks.recipe_files import RECIPES
from pocketmt.cli.main import run
from tests.cli.conftest import Run, pocketmt
from tests.compression.tiny_run import write_tiny_run

__all__ = ["pocketmt"]
PROGRAM = [sys.executable, "-m", "benchmarks.attention"]
ROOT = Path(__file__).parents[3]


Attention = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def attention(capsys: pytest.CaptureFixture[str]) -> Attention:
    """Run the program in this process, which has imported PyTorch."""

    def program(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        capsys.readouterr()
        status = run(words, attention_command, "python -m benchmarks.attention")
        return subprocess.CompletedProcess(words, status, *capsys.readouterr())

    return program


def in_new_process(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=300, cwd=ROOT, text=True)


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_a_record_has_the_weights_and_its_origin(attention: Attention, tiny_run: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    answer = attention(tiny_run, "--text", "red cat", "--record", record, "-o", tmp_path / "picture.svg", "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(record.read_text())
    assert "commit" in found.pop("provenance")
    assert found == json.loads(answer.stdout)


def test_a_model_is_compared_with_its_compressed_file(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    small, picture = tmp_path / "small.pocketmt", tmp_path / "picture.svg"
    assert pocketmt("pack", tiny_run, "--scheme", "logarithmic4", "-o", small).returncode == 0
    answer = in_new_process(tiny_run, small, "--text", "red cat $ dog $", "--target", "RED", "-o", picture)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    heading, _, first, second = answer.stdout.splitlines()
    assert heading.split() == ["model", "layer", "difference"]
    assert first.split() == [str(tiny_run), "1", "0.000"]
    assert second.split()[0] == str(small) and 0 < float(second.split()[2]) < 1
    assert sorted(os.listdir(tmp_path)) == ["picture.svg", "small.pocketmt"]
    tags = [element.tag.rpartition("}")[2] for element in ElementTree.parse(picture).iter()]
    assert tags[0] == "svg" and tags.count("image") == 3  # A panel for each model, and the colour scale.


def test_a_fully_quantized_model_attends_like_the_original(
    attention: Attention, pocketmt: Run, tiny_run: Path, tmp_path: Path
) -> None:
    quantized, picture = tmp_path / "quantized.pocketmt", tmp_path / "picture.svg"
    made = pocketmt("compress", tiny_run, RECIPES / "prato" / "8bit.toml", "--limit-updates", "2", "-o", quantized)
    assert made.returncode == 0, made.stderr
    options = ("--text", "red cat", "--kind", "decoder", "--json")
    answer = attention(tiny_run, quantized, *options, "-o", picture)
    assert answer.returncode == 0, answer.stderr
    original, quantized_weights = (model["weights"] for model in json.loads(answer.stdout)["models"])
    for row, (expected, weights) in enumerate(zip(original, quantized_weights, strict=True)):
        assert weights[row + 1 :] == [0.0] * (len(weights) - row - 1)
        assert weights == pytest.approx(expected, abs=0.1)


def test_the_record_holds_the_weights_of_one_head(attention: Attention, tiny_run: Path, tmp_path: Path) -> None:
    options = ("--kind", "encoder", "--layer", "1", "--head", "2", "--json")
    answer = attention(tiny_run, "--text", "red cat", "-o", tmp_path / "picture.png", *options)
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert (record["kind"], record["head"], record["source"]) == ("encoder", 2, "red cat")
    assert record["queries"] == record["keys"]
    assert len(record["models"][0]["weights"]) == len(record["keys"])
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--text", "red", "-o", "picture.txt"), 2, ".svg"),
        (("--text", "red", "-o", "missing/picture.svg"), 1, "folder missing does not exist"),
        (("-o", "picture.svg"), 2, "--text"),
        (("--text", "red", "-o", "picture.svg", "--layer", "0"), 2, "--layer"),
        (("--text", "red", "-o", "picture.svg", "--head", "3"), 1, "there is no head 3: give 1 to 2"),
        (("missing.pocketmt", "--text", "red", "-o", "picture.svg"), 1, "missing.pocketmt: no such file"),
    ],
)
def test_invalid_arguments_are_refused(
    attention: Attention, tiny_run: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    answer = attention(tiny_run, *arguments)
    assert answer.returncode == status
    assert message in answer.stderr
    assert answer.stdout == ""
    assert not Path("picture.svg").exists()
