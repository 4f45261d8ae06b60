"""pocketmt attention: pictures, a table, a record, and what it refuses."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.recipes.tiny_run import write_tiny_run

from .conftest import Run


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_before_and_after_compression(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    small, picture = tmp_path / "small.pocketmt", tmp_path / "picture.svg"
    assert pocketmt("pack", tiny_run, "--scheme", "logarithmic4", "-o", small).returncode == 0
    answer = pocketmt("attention", tiny_run, small, "--text", "red cat $ dog $", "--target", "RED", "-o", picture)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == b""
    heading, _, first, second = answer.stdout.decode().splitlines()
    assert heading.split() == ["model", "layer", "difference"]
    assert first.split() == [str(tiny_run), "1", "0.000"]
    assert second.split()[0] == str(small) and 0 < float(second.split()[2]) < 1
    assert sorted(os.listdir(tmp_path)) == ["picture.svg", "small.pocketmt"]
    tags = [element.tag.rpartition("}")[2] for element in ElementTree.parse(picture).iter()]
    assert tags[0] == "svg" and tags.count("image") == 3  # a panel for each model, and the scale of colours


def test_a_fully_quantized_model(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    quantized, picture = tmp_path / "quantized.pocketmt", tmp_path / "picture.svg"
    answer = pocketmt("compress", tiny_run, "q-8bit", "--limit-updates", "2", "-o", quantized)
    assert answer.returncode == 0, answer.stderr
    options = ("--text", "red cat", "--kind", "decoder", "--json")
    answer = pocketmt("attention", tiny_run, quantized, *options, "-o", picture)
    assert answer.returncode == 0, answer.stderr
    plain, codes = (model["weights"] for model in json.loads(answer.stdout)["models"])
    for row, (one, other) in enumerate(zip(plain, codes, strict=True)):
        assert other[row + 1 :] == [0.0] * (len(other) - row - 1)
        assert other == pytest.approx(one, abs=0.1)


def test_a_record(pocketmt: Run, tiny_run: Path, tmp_path: Path) -> None:
    options = ("--kind", "encoder", "--layer", "1", "--head", "2", "--json")
    answer = pocketmt("attention", tiny_run, "--text", "red cat", "-o", tmp_path / "picture.png", *options)
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
        (("--text", "red", "-o", "missing/picture.svg"), 1, "there is no folder missing"),
        (("-o", "picture.svg"), 2, "--text"),
        (("--text", "red", "-o", "picture.svg", "--layer", "0"), 2, "--layer"),
        (("--text", "red", "-o", "picture.svg", "--head", "3"), 1, "there is no head 3: give 1 to 2"),
        (("missing.pocketmt", "--text", "red", "-o", "picture.svg"), 1, "missing.pocketmt: no such file"),
    ],
)
def test_what_it_refuses(pocketmt: Run, tiny_run: Path, arguments: tuple[str, ...], status: int, message: str) -> None:
    answer = pocketmt("attention", tiny_run, *arguments)
    assert answer.returncode == status
    assert message in answer.stderr.decode()
    assert answer.stdout == b""
    assert not Path("picture.svg").exists()
