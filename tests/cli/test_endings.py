"""The ends of commands, the list of recipes and the report of a model file: ratio, scores, the next command."""

import json
import shlex
from pathlib import Path

import pytest

from pocketmt.cli.main import run
from pocketmt.recipes.catalogue import RECOMMENDED, recipe_names
from tests.compression.tiny_run import write_tiny_run


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("a tiny run"))


def next_commands(messages: str) -> list[list[str]]:
    lines = [line.partition(": ")[2] for line in messages.splitlines() if line.startswith(("next: ", "  or: "))]
    return [shlex.split(line) for line in lines]


def test_compress_ends_with_ratio_quality_and_the_next_command(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small.pocketmt"
    arguments = ["compress", str(tiny_run), "log4-distilled", "--limit-updates", "2", "--output", str(output)]
    assert run([*arguments, "--licence", "CC0"]) == 0
    messages = capsys.readouterr().err
    size = output.stat().st_size
    assert run(["inspect", str(output), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    ratio = report["float32_file_bytes"] / size
    assert ratio > 2
    assert f"{output}: {size:,} bytes, {ratio:.1f} times smaller than in float32, validation BLEU " in messages
    assert "(before compression 0.0)" in messages
    translate, shortlist = next_commands(messages)
    assert translate == ["pocketmt", "translate", "--model", str(output), "<", "TEXT"]
    assert shortlist[:3] == ["pocketmt", "shortlist", str(output)]
    assert report["recipe"]["name"] == "log4-distilled" and report["training"]["compression"]["update"] >= 0
    assert (report["licence"], report["unit"]) == ("CC0", "sentence")
    assert run(["inspect", str(output)]) == 0
    lines = {line.split(":")[0]: line.partition(":")[2].strip() for line in capsys.readouterr().out.splitlines()}
    assert lines["recipe"].startswith("log4-distilled: 4-bit logarithmic weights")
    assert lines["training"].startswith("update 0, ") and "retraining update" in lines["training"]
    assert lines["scores"].startswith("validation BLEU ") and "before compression" in lines["scores"]
    assert lines["licence"] == "CC0" and "to" in lines["languages"]


@pytest.mark.parametrize(("recipe", "slow"), [("mixed-2-bits-distilled", True), ("log4-distilled", False)])
def test_the_slower_translation_of_a_small_model_in_binary_codes_is_said(
    recipe: str, slow: bool, tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small.pocketmt"
    assert run(["compress", str(tiny_run), recipe, "--limit-updates", "1", "--output", str(output)]) == 0
    assert ("slower than 8 bits" in capsys.readouterr().err) == slow


def test_compress_from_plain_text_names_what_it_is_scored_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, output = tmp_path / "text.en", tmp_path / "small.pocketmt"
    text.write_text("A man rides a bike.\nTwo dogs run on the beach.\n" * 5)
    assert run(["compress", "captions-en-de", "8bit-static", "--text", str(text), "--output", str(output)]) == 0
    messages = capsys.readouterr().err
    assert "against the uncompressed model's translations" in messages and "before compression" not in messages
    assert run(["inspect", str(output)]) == 0
    assert "scores: BLEU against the uncompressed model's translations" in " ".join(capsys.readouterr().out.split())


def test_pack_ends_with_ratio_and_the_next_commands(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "packed.pocketmt"
    assert run(["pack", str(tiny_run), "--output", str(output)]) == 0
    messages = capsys.readouterr().err
    assert "times smaller than in float32, validation BLEU 0.0 before packing" in messages
    translate, compress = next_commands(messages)
    assert translate[:4] == ["pocketmt", "translate", "--model", str(output)]
    assert compress[:4] == ["pocketmt", "compress", str(tiny_run), "affine4-distilled"]
    assert run(["inspect", str(output)]) == 0
    assert "none, packed as uniform8" in capsys.readouterr().out


def test_distill_ends_with_the_next_command(tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, outputs = tmp_path / "text.en", [str(tmp_path / "out.en"), str(tmp_path / "out.up")]
    text.write_text("red cat\n")
    assert run(["distill", str(tiny_run), "--text", str(text), "-b", "1", "-o", *outputs]) == 0
    (clean,) = next_commands(capsys.readouterr().err)
    # Without --languages: "up" is not a language that `clean` knows.
    cleaned = [str(tmp_path / "clean.out.en"), str(tmp_path / "clean.out.up")]
    assert clean == ["pocketmt", "clean", *outputs, "--output", *cleaned]


def test_the_list_begins_with_the_recommended_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compress", "--list"]) == 0
    listed = capsys.readouterr().out
    names = [line for line in listed.splitlines() if line in recipe_names()]
    recommended = [each.name for each in RECOMMENDED]
    assert names[: len(recommended)] == recommended
    assert sorted(names) == recipe_names()
    assert listed.index("Recommended:") < listed.index(recommended[0]) < listed.index("Others:")
    for each in RECOMMENDED:
        assert f"{each.name}\n    {each.size}. {each.use}\n" in listed


def test_help_and_readme_recommend_the_first_recipe_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compress", "--help"]) == 0
    first = RECOMMENDED[0].name
    examples = capsys.readouterr().out.partition("Examples:")[2]
    assert f"pocketmt compress runs/captions {first} " in examples.splitlines()[1]
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert first in readme
