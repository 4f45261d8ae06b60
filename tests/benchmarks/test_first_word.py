"""The program that times the first word: a row for each engine, with all steps and the ratio to the first."""

import sys
from pathlib import Path

import pytest

from benchmarks.first_word import STEPS, first_word_rows
from benchmarks.peer.files import write_ours
from benchmarks.peer.models import TimedModel, random_network
from benchmarks.peer.sides import our_side
from pocketmt.models.presets import preset
from pocketmt.text.vocabulary import SPECIAL_PIECES


def test_each_side_has_a_row_with_its_steps(tmp_path: Path) -> None:
    network = random_network(preset("tiny", 2000), 1)
    files = write_ours(network, tmp_path)
    model = TimedModel("a model", "seed 1", network.architecture, (1, 1), [[SPECIAL_PIECES, 9, 11]], files, {})
    sides = [our_side(form, files[form], sys.executable) for form in ("float32", "uniform8")]
    rows = list(first_word_rows(model, sides, rounds=2))
    assert [row["weights"] for row in rows] == ["float32", "uniform8"]
    assert rows[0]["times_as_fast"] == 1 and rows[1]["lowest"] <= rows[1]["times_as_fast"] <= rows[1]["highest"]
    for row in rows:
        assert len(row["rounds"]) == 2
        for each in row["rounds"]:
            assert all(each[step] > 0 for step in STEPS)
            assert each["in_all"] == pytest.approx(each["start"] + each["load"] + each["first_word"])
