"""Scores of the family of everyday models."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday_family
from benchmarks.everyday_family import cleaning_counts
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ConfigurationError

CONFIGURATION = "examples/everyday/two-cores.toml"
SOURCE = ["Where is the train station?", "I love you.", "The dog is here."]
REFERENCES = ["Wo ist der Bahnhof?", "Ich liebe dich.", "Der Hund ist hier."]
LOG = """removed as  pairs       %
----------  -----  ------
language        7    0.35
too long        -       -
kept        1,993   99.65
read        2,000  100.00
"""
Run = Callable[..., dict[str, Any]]


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a family of two teachers and a student."""
    for part in ("val", "test"):
        write(tmp_path / "data" / "tatoeba" / f"{part}.en", SOURCE)
        for number in range(4):
            write(tmp_path / "data" / "tatoeba" / f"{part}.de{number}", REFERENCES)
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path / "data"))
    folder = tmp_path / "family" / "en-de"
    folder.mkdir(parents=True)
    for name in ("teacher1", "teacher2", "pocket"):
        shutil.copy(resolve_model("everyday-en-de"), folder / f"{name}.pocketmt")
    (folder.parent / "logs").mkdir()
    (folder.parent / "logs" / "en-de.distilled.log").write_text(LOG)
    return folder


@pytest.fixture
def score(made: Path, tmp_path: Path) -> Run:
    def call(*options: str) -> dict[str, Any]:
        output = tmp_path / "record.json"
        arguments = [CONFIGURATION, "--folder", str(made.parent), "--languages", "en-de", "--rounds", "1"]
        assert everyday_family.main([*arguments, "--output", str(output), *options]) == 0
        record: dict[str, Any] = json.loads(output.read_text())
        return record

    return call


def test_all_members_are_scored_against_the_best_teacher(score: Run, made: Path) -> None:
    record = score("--compare", "pocket", "ensemble")
    rows = {row["model"]: row for row in record["rows"]}
    assert list(rows) == ["ensemble", "teacher1", "teacher2", "pocket"]
    assert record["best_teacher"] == "teacher1"
    assert rows["ensemble"]["bytes"] == 2 * (made / "teacher1.pocketmt").stat().st_size
    assert rows["ensemble"]["test"] == rows["teacher1"]["test"]  # Both teachers are the same.
    assert rows["teacher1"]["gain"] is None
    assert rows["pocket"]["encoder_sparsity"] == {"attention": 0, "feed_forward": 0}
    assert rows["ensemble"]["gain"] == rows["pocket"]["gain"] == pytest.approx(0)
    assert all(row["words_per_second"] > 0 for row in rows.values())
    [comparison] = record["comparisons"]
    assert comparison["gain"] == pytest.approx(0)
    assert record["cleaning"] == [
        {"removed as": "language", "distilled": 7},
        {"removed as": "kept", "distilled": 1993},
        {"removed as": "read", "distilled": 2000},
    ]


def test_one_teacher_is_no_ensemble(score: Run, made: Path) -> None:
    (made / "teacher2.pocketmt").unlink()
    assert [row["model"] for row in score()["rows"]] == ["teacher1", "pocket"]


def test_a_member_that_was_not_made_is_refused(score: Run) -> None:
    with pytest.raises(
        ConfigurationError, match=r"tiny is not a member that was made: .*ensemble, teacher1, teacher2, pocket"
    ):
        score("--compare", "tiny", "pocket")


def test_a_family_without_teachers_has_no_gains(score: Run, made: Path) -> None:
    for number in (1, 2):
        (made / f"teacher{number}.pocketmt").unlink()
    record = score("--compare", "pocket", "pocket")
    assert record["best_teacher"] is None
    assert [(row["model"], row["gain"]) for row in record["rows"]] == [("pocket", None)]
    (made / "pocket.pocketmt").unlink()
    with pytest.raises(ConfigurationError, match="no model was packed"):
        score()


def test_a_text_without_a_log_has_no_counts(tmp_path: Path) -> None:
    assert cleaning_counts(tmp_path, "de-en") == []
