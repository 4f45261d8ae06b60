"""The benchmark beside CTranslate2: what it measures is what it says. No time is asserted."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.peer.child_process import Child
from benchmarks.peer.measure import Amount, Case, compare, select
from benchmarks.peer.models import TimedModel, random_model
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.peer.record import render, rows_of
from benchmarks.peer.sides import our_side, peer_side
from pocketmt.errors import ConfigurationError, EngineError
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.recipes.packing.model_file import About, pack
from pocketmt.text.vocabulary import Vocabulary

LENGTH = 6
SENTENCES = [[5, 9, 7], [11], [4, 4, 6, 8, 10]]


def test_the_made_up_vocabulary_is_a_vocabulary() -> None:
    vocabulary = Vocabulary(made_up_vocabulary(300))  # refuses other special ids
    assert len(vocabulary) == 300
    assert vocabulary.decode([4, 299]) == "word4 word299"


def measurement(weights: str, seconds: list[float], outputs: list[list[int]]) -> dict[str, Any]:
    return {
        "weights": weights,
        "choice": "a setting",
        "seconds": seconds,
        "processor_seconds": [0.5 * each for each in seconds],
        "milliseconds_per_sentence": 1.0,
        "sentences_per_second": 1000.0,
        "file_bytes": 10,
        "peak_memory_bytes": 20,
        "target_tokens": 3,
        "outputs": outputs,
    }


def test_ratios_are_taken_round_by_round_and_above_one_where_ours_is_faster() -> None:
    peer = measurement("int8", [4.0, 6.0, 9.0], [[1], [2]])
    eight = measurement("uniform8", [2.0, 2.0, 9.0], [[1], [3]])
    four = measurement("logarithmic4", [1.0, 4.0, 3.0], [[5], [5]])
    row, row_of_four = rows_of("model", "case", [peer, eight, four])
    assert (row["lowest_ratio"], row["speed_ratio"], row["highest_ratio"]) == (1.0, 2.0, 3.0)
    assert row["same_outputs"] == 0.5
    assert row["core_share"] == 0.5
    assert row["times_our_8_bit"] is None
    assert row_of_four["times_our_8_bit"] == 2.0
    assert row_of_four["same_outputs"] is None
    assert render([row, row_of_four]).count("\n") == 3


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    architecture = preset("tiny", 64)
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("peer") / "tiny.pocketmt"
    about = About(source_language="en", target_language="de")
    pack(path, make_network(architecture).state_dict(), architecture, made_up_vocabulary(64), "uniform8", about)
    return path


def test_our_side_gives_the_same_words_in_every_case_setting_and_round(model_file: Path) -> None:
    side = our_side("uniform8", str(model_file), sys.executable)
    model = TimedModel("tiny", "seed 1", preset("tiny", 64), (LENGTH, LENGTH), SENTENCES, {}, {"uniform8": model_file})
    amount = Amount(one_by_one=3, batches=3, rounds=2)
    cases = [Case(True, 1), Case(False, 1)]
    selection = select(side, model, cases, amount)
    assert {tried["case"] for tried in selection.tried} == {case.name for case in cases}
    outputs = []
    for case in cases:
        (measured,) = compare([side], [selection.best[case]], model, case, amount)
        assert len(measured["seconds"]) == amount.rounds
        outputs.append(measured["outputs"])
    assert outputs[0] == outputs[1]
    # The last word of a forced length may be eos, which is not counted among the words.
    assert all(len(output) in (LENGTH - 1, LENGTH) for output in outputs[0])


def test_a_child_that_dies_is_an_error(tmp_path: Path) -> None:
    with Child("benchmarks.peer.run_pocketmt", {}) as child, pytest.raises(EngineError, match="asked to load"):
        child.load(str(tmp_path / "missing.pocketmt"), {})


def test_a_python_without_the_peer_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--peer-python"):
        random_model("tiny", 1, 1, tmp_path, str(tmp_path / "python"))


@pytest.mark.skipif(find_spec("ctranslate2") is None, reason="CTranslate2 is not installed: pip install .[benchmark]")
def test_both_sides_write_the_same_words_of_forced_length(tmp_path: Path) -> None:
    model = random_model("tiny", 2, 1, tmp_path, sys.executable)
    amount = Amount(one_by_one=2, batches=2, rounds=1)
    case = Case(True, 4)
    sides = [
        peer_side("float32", str(model.peer["float32"]), sys.executable),
        our_side("float32", str(model.ours["float32"]), sys.executable),
    ]
    choices = [select(side, model, [case], amount).best[case] for side in sides]
    peer, ours = compare(sides, choices, model, case, amount)
    assert peer["outputs"] == ours["outputs"]
    assert all(len(output) == model.lengths[1] for output in peer["outputs"])
