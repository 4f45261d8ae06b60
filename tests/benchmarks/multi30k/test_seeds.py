"""The comparison of trainings with several seeds: each seed with the same one of the baseline, and all together."""

from pathlib import Path

import pytest

from benchmarks.multi30k import seeds
from benchmarks.record_files import read_record
from pocketmt.errors import ConfigurationError

from .test_students import folder

__all__ = ["folder"]


def test_each_seed_is_compared_with_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exact, rounded = (str(folder / f"{name}.pocketmt") for name in ("float32", "uniform8"))
    models = [f"exact={exact},{rounded}", f"swapped={rounded},{exact}"]
    assert seeds.main([*models, "--final", "--texts", "multi30k", "--output", str(folder / "record.json")]) == 0
    rows = read_record(folder / "record.json")["rows"]
    assert [(row["model"], row["seed"]) for row in rows] == [
        (label, seed) for label in ("exact", "swapped") for seed in ("1", "2", "all")
    ]
    first, second, together = rows[3:]
    for row, baseline in ((first, rows[0]), (second, rows[1])):
        gain = row["tests"]["bleu"] - baseline["tests"]["bleu"]
        assert row["against"]["exact"]["gain"] == pytest.approx(gain)
    assert first["against"]["exact"]["gain"] == pytest.approx(-second["against"]["exact"]["gain"])
    # Both labels have the same translations, so that together nothing is gained.
    assert together["against"]["exact"]["gain"] == pytest.approx(0)
    assert together["tests"]["bleu"] == pytest.approx((first["tests"]["bleu"] + second["tests"]["bleu"]) / 2)
    assert rows[0]["against"] == {"exact": seeds.NO_GAIN, "swapped": seeds.NO_GAIN}
    assert "over exact" in capsys.readouterr().out


def test_without_final_only_the_validation_set_is_scored(folder: Path) -> None:
    seeds.main([f"a={folder / 'float32.pocketmt'}", "--texts", "multi30k", "--output", str(folder / "record.json")])
    rows = read_record(folder / "record.json")["rows"]
    assert [row["seed"] for row in rows] == ["1", "all"]
    assert all("bleu" in row["val"] and "tests" not in row for row in rows)


@pytest.mark.parametrize(
    ("models", "message"),
    [(["a.pocketmt"], "give a label"), (["a=1.pocketmt,2.pocketmt", "b=1.pocketmt"], "different numbers")],
)
def test_labels_and_seeds_must_fit(models: list[str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        seeds.main(models)
