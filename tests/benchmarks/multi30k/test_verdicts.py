"""Verdicts about claims of papers: what several networks must show, and which models are compared."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.multi30k import compression, pytorch_tables, verdicts
from benchmarks.multi30k.claim_networks import Claims
from benchmarks.multi30k.texts import TEXTS
from benchmarks.recipe_files import find_recipe
from benchmarks.record_files import read_record
from pocketmt.errors import ConfigurationError
from pocketmt.recipes.schema import Retraining
from pocketmt.toml_file import read_toml

from .test_students import folder

__all__ = ["folder"]

CLAIMS = """
updates = 2
[networks]
captions = "multi30k"
[[claims]]
paper = "P"
claim = "full precision is as good as 8 bits"
better = "control"
worse = "8bit"
least = -100.0
[[claims]]
paper = "P"
claim = "error feedback is as good as its control"
better = "aji/log4-error-feedback"
worse = "control"
least = -100.0
"""


@pytest.mark.parametrize(
    ("least", "gains", "p_values", "expected"),
    [
        (0.0, [1.0, 0.4, 2.0], [0.001, 0.04, 0.001], "confirmed"),
        (0.0, [1.0, 0.4, 2.0], [0.001, 0.06, 0.001], "undecided"),
        (0.0, [1.0, -0.4, 2.0], [0.001, 0.001, 0.001], "undecided"),
        (0.0, [-1.0, -0.4, 0.2], [0.001, 0.3, 0.3], "refuted"),
        (0.0, [-1.0, -0.4, 0.2], [0.001, 0.3, 0.04], "undecided"),
        (0.0, [-1.0, -0.4, 0.31], [0.001, 0.3, 0.3], "undecided"),
        (2.0, [2.1, 5.0, 9.0], [0.001, 0.001, 0.001], "confirmed"),
        (2.0, [1.9, 5.0, 9.0], [0.001, 0.001, 0.001], "undecided"),
        (2.0, [1.9, 1.0, 0.0], [0.001, 0.001, 1.0], "refuted"),
        (-1.0, [-0.9, 0.0, 0.5], [0.001, 1.0, 0.001], "confirmed"),
        (-1.0, [-1.1, 0.0, 0.5], [0.001, 1.0, 0.001], "undecided"),
        (-1.0, [-1.1, -2.0, -3.0], [0.001, 0.001, 0.001], "refuted"),
        (-1.0, [-1.1, -2.0, -3.0], [0.06, 0.001, 0.001], "undecided"),
    ],
)
def test_networks_decide_together(least: float, gains: list[float], p_values: list[float], expected: str) -> None:
    differences = [{"gain": gain, "p_value": p} for gain, p in zip(gains, p_values, strict=True)]
    assert verdicts.verdict(least, differences) == expected


def _compress(folder: Path, monkeypatch: pytest.MonkeyPatch, *recipes: str) -> None:
    """Compress the run of `folder` by recipes, as the network "captions" of the claims above."""
    (folder / "claims.toml").write_text(CLAIMS)
    monkeypatch.setattr(verdicts, "CLAIMS", folder / "claims.toml")
    compression.main([str(folder / "run"), *recipes, "--no-parity", "--output", str(folder / "captions.json")])
    (folder / "captions").symlink_to(folder / "run")


def test_both_sides_of_a_claim_are_compared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _compress(folder, monkeypatch, "8bit=2", "aji/log4-error-feedback=2")
    capsys.readouterr()
    assert verdicts.main([str(folder), "--final", "--output", str(folder / "record.json")]) == 0
    record = read_record(folder / "record.json")
    without, retrained = record["rows"]
    assert (without["better"]["recipe"], without["worse"]["recipe"]) == ("float32", "8bit")
    assert retrained["worse"]["recipe"].startswith("control/2-") and retrained["worse"]["best_updates"] == "2"
    for row in record["rows"]:
        assert row["gain"] == pytest.approx(row["better"]["bleu"] - row["worse"]["bleu"])
    assert [each["verdict"] for each in record["verdicts"]] == ["confirmed", "confirmed"]
    assert record["verdicts"][0]["captions"] == {key: without[key] for key in ("gain", "p_value")}
    models = {each["recipe"]: each["captions"] for each in record["models"]}
    assert models["8bit"] == without["worse"] and models["aji/log4-error-feedback"] == retrained["better"]
    assert len(models) == 4 and record["networks"][0]["network"] == "captions"
    assert "confirmed" in capsys.readouterr().out


PYTORCH_CLAIMS = """
updates = 2
translated_by = "pytorch"
beam = 1
[networks]
captions = "multi30k"
[[claims]]
paper = "P"
claim = "8 bits everywhere are as good as the control"
better = "prato/8bit"
worse = "control"
least = -100.0
"""


def test_networks_are_compared_as_pytorch_translates_with_them(folder: Path) -> None:
    claims = folder / "claims.toml"
    claims.write_text(PYTORCH_CLAIMS)
    arguments = [str(folder), "--claims", str(claims), "--final", "--output", str(folder / "record.json")]
    with pytest.raises(ConfigurationError, match=r"benchmarks\.multi30k\.pytorch_tables .*captions RECIPES"):
        verdicts.main(arguments)
    made = ["prato/8bit=2", "--beam", "1", "--output", str(folder / "captions-pytorch.json")]
    pytorch_tables.main([str(folder / "run"), *made])
    (folder / "captions").symlink_to(folder / "run")
    with pytest.raises(ConfigurationError, match="with --final --beam 1"):
        verdicts.main(arguments)
    pytorch_tables.main([str(folder / "run"), *made, "--final"])
    assert verdicts.main(arguments) == 0
    record = read_record(folder / "record.json")
    [row] = record["rows"]
    assert row["better"]["recipe"] == "prato/8bit" and row["worse"]["recipe"].startswith("control/2-")
    assert row["better"]["activation_bits"] == 8 and row["p_value"] is not None
    assert [each["verdict"] for each in record["verdicts"]] == ["confirmed"]


@pytest.mark.parametrize("name", ["claims", "prato", "prato-nodes", "static"])
def test_claims_name_known_texts(name: str) -> None:
    claims: Any = read_toml(verdicts.CLAIMS.with_stem(name), Claims)
    assert set(claims.networks.values()) <= set(TEXTS) and claims.recipes()


def test_nothing_is_decided_on_the_validation_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _compress(folder, monkeypatch, "8bit=2", "aji/log4-error-feedback=2")
    verdicts.main([str(folder), "--output", str(folder / "record.json")])
    record = read_record(folder / "record.json")
    assert record["verdicts"] == [] and all(row["p_value"] is None for row in record["rows"])


def test_a_missing_row_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _compress(folder, monkeypatch, "8bit=2")
    with pytest.raises(ConfigurationError, match="captions: its record has no row of aji/log4-error-feedback"):
        verdicts.main([str(folder)])


def test_a_missing_record_is_named_with_its_command(folder: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"benchmarks\.multi30k\.compression .*captions RECIPES --texts multi30k"
    ):
        verdicts.main([str(folder)])


def test_recipes_of_the_claims_exist_and_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    claims: Any = read_toml(verdicts.CLAIMS, Claims)
    assert verdicts.main(["unused", "--recipes"]) == 0
    names = capsys.readouterr().out.split()
    assert len(names) == len(set(names)) > 20
    for name in names:
        recipe, _, updates = name.partition("=")
        assert int(updates) == claims.updates
        found = [stage.retraining for stage in find_recipe(recipe).stages]
        assert all(each.updates >= claims.updates for each in found if isinstance(each, Retraining))
