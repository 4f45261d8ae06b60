"""The comparison with other engines: rows, ratios and translations are right. No time is asserted."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.command import run
from benchmarks.peer import __main__ as program
from benchmarks.peer.__main__ import QUICK
from benchmarks.peer.child_process import Child
from benchmarks.peer.files import AFFINE6, FORMS, Network, shortlisted_ours, write_ours
from benchmarks.peer.measure import Amount, Case, Choice, compare, percentile, select
from benchmarks.peer.models import Pythons, TimedModel, random_network, variants
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.peer.record import render, rows_of
from benchmarks.peer.sides import ONE_BY_ONE, PEERS, marian_settings, our_side, with_workers
from benchmarks.record_files import read_record
from pocketmt.engine import Translator
from pocketmt.errors import EngineError
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.text.vocabulary import Vocabulary

LENGTH = 6
VOCABULARY = 320
SENTENCES = [[5, 9, 7], [11], [4, 4, 6, 8, 10]]


def test_the_made_up_vocabulary_is_a_vocabulary() -> None:
    vocabulary = Vocabulary(made_up_vocabulary(300))  # refuses other special ids
    assert len(vocabulary) == 300
    assert vocabulary.decode([4, 299]) == "word4 word299"


def measurement(side: str, weights: str, seconds: list[float], outputs: list[list[int]]) -> dict[str, Any]:
    return {
        "side": side,
        "weights": weights,
        "engine": {"instruction_set": "avx2"},
        "choice": "a setting",
        "seconds": seconds,
        "processor_seconds": [0.5 * each for each in seconds],
        "milliseconds_per_sentence": 1.0,
        "percentile_50_milliseconds": 1.0,
        "percentile_95_milliseconds": 1000 * max(seconds),
        "sentences_per_second": 1000.0,
        "load_seconds": 0.5,
        "file_bytes": 10,
        "peak_memory_bytes": 20,
        "target_tokens": 3,
        "outputs": outputs,
    }


MODEL = TimedModel("model", "seed 1", preset("tiny", 64), (LENGTH, LENGTH), SENTENCES, {}, {}, shortlist=True)


@pytest.mark.parametrize(("asked", "timed"), [([], [False, True]), (["with"], [True]), (["without"], [False])])
def test_models_with_or_without_a_shortlist_can_be_selected(
    asked: list[str], timed: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = [replace(MODEL, shortlist=False), MODEL]
    monkeypatch.setattr(program, "random_models", lambda *_, **__: iter(made))
    any_python = shutil.which("true") or "true"  # appears to have every package
    arguments = ["--peer-python", any_python, "--trained", "--random", "tiny", *(["--shortlist", *asked] * bool(asked))]
    assert [model.shortlist for model, _ in program._models(program._options(arguments), tmp_path)] == timed


def test_measurements_before_an_error_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def models(*_: Any) -> Iterator[tuple[TimedModel, Amount]]:
        yield MODEL, QUICK
        raise EngineError("the next model fails")

    rows = rows_of(
        MODEL, "case", [measurement("Marian", "int8", [2.0], [])], [measurement("PocketMT", "uniform8", [1.0], [])]
    )
    monkeypatch.setattr(program, "_models", models)
    monkeypatch.setattr(program, "_measure", lambda *_: iter([{"rows": rows}]))
    assert run(program.main, ["--trained", "--output", str(tmp_path / "record.json")]) == 1
    assert [row["peer"] for row in read_record(tmp_path / "record.json")["rows"]] == ["Marian"]


def test_ratios_are_taken_round_by_round_and_above_one_where_ours_is_faster() -> None:
    peer = measurement("CTranslate2", "int8", [4.0, 6.0, 9.0], [[1], [2]])
    eight = measurement("PocketMT", "uniform8", [2.0, 2.0, 9.0], [[1], [3]])
    four = measurement("PocketMT", "logarithmic4", [1.0, 4.0, 3.0], [[5], [5]])
    row, row_of_four = rows_of(MODEL, "case", [peer], [eight, four])
    assert (row["lowest_ratio"], row["speed_ratio"], row["highest_ratio"]) == (1.0, 2.0, 3.0)
    assert (row["decoder"], row["shortlist"]) == ("self-attention", True)
    assert row["same_outputs"] == 0.5
    assert row["core_share"] == 0.5
    assert (row["percentile_95_milliseconds"], row["peer_percentile_95_milliseconds"]) == (9000.0, 9000.0)
    assert row["times_our_8_bit"] is None
    assert row_of_four["times_our_8_bit"] == 2.0
    assert row_of_four["same_outputs"] is None
    assert render([row, row_of_four]).count("\n") == 3


def test_every_form_has_a_row_for_every_peer_and_translations_of_the_same_model_are_compared() -> None:
    peers = [measurement(name, "int8", [4.0], [[1]]) for name in PEERS]
    ours = [measurement("PocketMT", "uniform8", [2.0], [[1]]), measurement("PocketMT", "mixed2.6", [1.0], [[1]])]
    rows = rows_of(MODEL, "case", peers, ours)
    assert [(row["weights"], row["peer"], row["same_outputs"]) for row in rows] == [
        ("uniform8", "CTranslate2", 1.0),
        ("uniform8", "Marian", None),
        ("mixed2.6", "CTranslate2", None),
        ("mixed2.6", "Marian", None),
    ]


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(1, 21)]
    assert (percentile(values, 50), percentile(values, 95), percentile(values[:1], 95)) == (10.0, 19.0, 1.0)
    assert percentile([], 50) is None


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_marian_skips_the_cost_in_greedy_search_alone(weights: str) -> None:
    settings = marian_settings(weights)
    for beam in (1, 4):
        skipped = ["--skip-cost" in each.load_options["arguments"] for each in settings if each.serves(beam)]
        assert len(skipped) == len(settings) / 2
        assert all(each == (beam == 1) for each in skipped)


def small_network() -> Network:
    return random_network(preset("tiny", VOCABULARY), seed=1)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    architecture = preset("tiny", 64)
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("peer") / "tiny.pocketmt"
    metadata = ModelMetadata(source_language="en", target_language="de")
    weights = make_network(architecture).state_dict()
    pack(path, ModelContents(weights, architecture, made_up_vocabulary(64), "uniform8", metadata))
    return path


def test_our_translations_are_the_same_in_every_case_setting_and_round(model_file: Path) -> None:
    side = our_side("uniform8", str(model_file), sys.executable)
    model = replace(MODEL, ours={"uniform8": model_file})
    amount = Amount(one_by_one=3, batches=3, rounds=2)
    cases = [Case(True, 1), Case(False, 1)]
    selection = select(side, model, cases, amount)
    assert {tried["case"] for tried in selection.tried} == {case.name for case in cases}
    outputs = []
    for case in cases:
        (measured,) = compare([side], [selection.best[case]], model, case, amount)
        assert len(measured["seconds"]) == amount.rounds
        assert (measured["percentile_50_milliseconds"] is not None) == case.one_by_one
        outputs.append(measured["outputs"])
    assert outputs[0] == outputs[1]
    # The last word of a forced length may be eos, which is not counted among the words.
    assert all(len(output) in (LENGTH - 1, LENGTH) for output in outputs[0])


def test_with_workers_only_batches_are_timed_and_translations_are_the_same(model_file: Path) -> None:
    side = our_side("uniform8", str(model_file), sys.executable)
    model = replace(MODEL, ours={"uniform8": model_file}, peers={"int8": []})
    amount = Amount(one_by_one=3, batches=3, rounds=2)
    found = list(program._measure(model, amount, program._options(["--precisions", "int8", "--workers", "2"])))
    assert [each["case"] for each in found[:-1]] == ["batches, greedy", "batches, beam 4"]
    choices = {tried["choice"] for each in found[-1]["settings"] for tried in each["tried"]}
    assert choices == {"default"}  # one call for all sentences, which the workers share
    one, two = (
        compare([each], [Choice(each.settings[0], ONE_BY_ONE)], model, Case(False, 1), amount)[0]["outputs"]
        for each in (side, with_workers(side, 2))
    )
    assert one == two


def test_all_threads_can_work_on_one_sentence(model_file: Path) -> None:
    model = replace(MODEL, ours={"uniform8": model_file}, peers={"int8": []})
    options = program._options(["--precisions", "int8", "--workers", "2", "--one-by-one", "--beams", "1"])
    found = list(program._measure(model, Amount(one_by_one=2, batches=2, rounds=1), options))
    assert [each["case"] for each in found[:-1]] == ["one by one, greedy"]


def test_a_child_process_that_ends_is_an_error(tmp_path: Path) -> None:
    with Child("benchmarks.peer.run_pocketmt", {}) as child, pytest.raises(EngineError, match="asked to load"):
        child.load(str(tmp_path / "missing.pocketmt"), {})


def test_every_form_is_written_and_translates(tmp_path: Path) -> None:
    network = small_network()
    files = write_ours(network, tmp_path, [*FORMS, AFFINE6])
    assert tuple(files) == ("float32", "uniform8", "uniform7", "logarithmic4", "mixed2.6", "affine6")
    with open_model(files[AFFINE6]) as file:
        assert [group.form.bits for group in file.matrices["embedding.weight"]] == [6]
    with open_model(files["mixed2.6"]) as file:
        bits = [group.form.bits for group in file.matrices["embedding.weight"]]
    assert bits == [4, 3, 2, 1]
    assert network.shortlist is not None
    allowed = set(network.shortlist.pieces(SENTENCES[0]))
    for path in shortlisted_ours(files, network.shortlist).values():
        (words,) = Translator(path).translate_ids(SENTENCES[:1], min_length=LENGTH, max_length=LENGTH)
        assert set(words) <= allowed


def test_both_engines_write_the_same_translations_of_forced_length_also_with_a_shortlist(tmp_path: Path) -> None:
    few = Shortlist([200], [[]] * 4 + [[*range(201, 210)]] * (VOCABULARY - 4))
    network = replace(small_network(), shortlist=few)
    about = TimedModel("tiny", "seed 1", network.architecture, (LENGTH, LENGTH), SENTENCES, {}, {})
    amount, case = Amount(one_by_one=2, batches=2, rounds=1), Case(True, 4)
    for model in variants(about, network, tmp_path, Pythons(sys.executable)):
        sides = [*model.peers["float32"], our_side("float32", str(model.ours["float32"]), sys.executable)]
        choices = [Choice(side.settings[0], ONE_BY_ONE) for side in sides]
        peer, ours = compare(sides, choices, model, case, amount)
        assert peer["outputs"] == ours["outputs"]
        assert all(len(output) == LENGTH for output in peer["outputs"])
        assert {*chain(*peer["outputs"])} <= {*range(200, 210)} or not model.shortlist
