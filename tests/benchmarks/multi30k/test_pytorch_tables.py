"""The tables computed in PyTorch, on a small run: each row has a recipe, and the quantized network is scored."""

import json
from pathlib import Path

import msgspec
import pytest
import torch

from benchmarks.multi30k import data, pytorch_tables
from benchmarks.multi30k.controls import comparable
from benchmarks.multi30k.from_scratch_tables import (
    AFTER_FROM_SCRATCH,
    CONTROL_CONTINUED,
    CONTROL_FROM_SCRATCH,
    LOGARITHMIC_CONTINUED,
    LOGARITHMIC_FINE_TUNED,
    LOGARITHMIC_FROM_SCRATCH,
)
from benchmarks.multi30k.fully_quantized_tables import TABLES, find_table_recipe, table_recipes, tables
from benchmarks.multi30k.paper_tables import CONTROL
from benchmarks.multi30k.pytorch_tables import Run, main, translations_file
from benchmarks.record_files import read_record
from pocketmt.compression.activations.estimation import build_network
from pocketmt.compression.activations.fully_quantized import places, ranges
from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_result import load_result
from pocketmt.errors import ConfigurationError
from pocketmt.recipes.schema import Activations
from pocketmt.training.data import PairEncoder, corpus_for
from pocketmt.training.trained_model import read_trained_model
from pocketmt.training.validation import validate
from tests.compression.tiny_run import write_tiny_run
from tests.small_network import architecture

ALL = list(dict.fromkeys(name for table in TABLES for name in table_recipes(table)))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_recipe_of_the_tables_has_a_plan(name: str, norm: str) -> None:
    recipe = find_table_recipe(name)
    assert recipe.name == name
    assert make_plan(recipe, architecture(norm))


def test_a_recipe_from_scratch_changes_only_its_training() -> None:
    ours, naive = find_table_recipe("prato/8bit-from-scratch"), find_table_recipe("prato/8bit-naive-from-scratch")
    (start,), (trained,) = naive.stages, find_table_recipe("prato/8bit-naive").stages
    assert naive.start == "random" and start.retraining == ours.stages[0].retraining
    assert start.quantize == trained.quantize
    assert isinstance(trained.activations, Activations)
    assert start.activations == msgspec.structs.replace(trained.activations, delay=100)


def test_the_recipes_of_table_3_quantize_one_operation_and_no_weight() -> None:
    names = table_recipes("prato-table-3")
    assert len(names) == 1 + 14 + 13  # the denominator has no buckets
    for name in names[1:]:
        (stage,) = make_plan(find_table_recipe(name), architecture("pre")).stages
        assert not stage.matrices
        assert stage.activations is not None and len(stage.activations.operations) == 1
        assert stage.activations.bucketed == (stage.activations.operations if name.endswith("-buckets") else ())


def test_delays_are_shares_of_the_updates() -> None:
    delays = {}
    for most in (None, 2000):
        for share in (10, 50, 80):
            (stage,) = find_table_recipe(f"prato/8bit-delayed-{share}%", most).stages
            assert isinstance(stage.activations, Activations)
            delays[most, share] = stage.activations.delay
    assert list(delays.values()) == [1000, 5000, 8000, 200, 1000, 1600]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_table_3_distinguishes_norms_of_attention_and_feed_forward(norm: str) -> None:
    found = {}
    for module in ("attention", "feed-forward"):
        (stage,) = make_plan(find_table_recipe(f"prato/alone-{module}-layer-norm-output"), architecture(norm)).stages
        found[module] = set(places(build_network(architecture(norm), stage.activations)))
    (stage,) = make_plan(find_table_recipe("prato/8bit"), architecture(norm)).stages
    every = {
        name for name in places(build_network(architecture(norm), stage.activations)) if name.endswith("norm.output")
    }
    assert found["attention"] == {name for name in every if "attention" in name}
    assert found["feed-forward"] == every - found["attention"]
    assert ("encoder.norm.output" in every) == (norm == "pre")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_tiny_run(tmp_path)
    (tmp_path / "multi30k").mkdir()
    for name in (data.VALIDATION, *data.TESTS):
        for language, original in (("en", "dev.en"), ("de", "dev.up")):
            (tmp_path / "multi30k" / f"{name}.{language}").write_text((tmp_path / original).read_text())
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(pytorch_tables, "BEAM", 1)
    return folder


def test_tables_are_made_and_resumed(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "record.json"
    arguments = ["--limit-updates", "2", "--output", str(output)]
    main([str(run), "prato-table-4", *arguments])
    first = read_record(output)
    assert [row["recipe"] for row in first["rows"]] == table_recipes("prato-table-4")
    assert [row["paper_bleu"] for row in first["tables"]["prato-table-4"]] == [38.36, 38.55, 36.49, 0, 37.97, 37.94]
    assert first["tables"]["prato-table-2"][-1]["recipe"] == "prato/8bit" and not first["tables"]["prato-table-3"]
    main([str(run), "prato-table-4", "fp32-from-scratch=3", "--final", *arguments])
    assert [row["recipe"] for row in read_record(output)["rows"]] == [
        *table_recipes("prato-table-4"),
        CONTROL_FROM_SCRATCH,
    ]
    main([str(run), "prato-table-4", "prato-table-5=3", "--final", *arguments])
    record = read_record(output)
    rows = {row["recipe"]: row for row in record["rows"]}
    assert rows["prato/8bit"]["updates"] == 2 and rows["prato/8bit-from-scratch"]["updates"] == 3
    assert list(rows) == [*table_recipes("prato-table-4"), *table_recipes("prato-table-5")]
    assert rows["prato/8bit"]["weight_bits"] == rows["prato/8bit"]["activation_bits"] == 8
    assert rows["prato/8bit-weights-only"]["activation_bits"] == 32
    assert rows[CONTROL]["times_smaller"] == 1 and 1 < rows["prato/8bit"]["times_smaller"] < 4
    assert rows[AFTER_FROM_SCRATCH]["against"]["p_value"] is not None
    assert rows["prato/8bit"]["against"]["baseline"] == CONTROL
    assert rows["prato/8bit-from-scratch"]["against"]["baseline"] == CONTROL_FROM_SCRATCH
    assert rows["prato/8bit"]["best_update"] > 1  # quantization begins after one update
    assert rows[CONTROL_FROM_SCRATCH]["against"]["p_value"] is None
    assert rows[AFTER_FROM_SCRATCH]["tests"]["lines"] == 16
    assert all(row["last_perplexity"] >= row["perplexity"] and not row["diverged"] for row in rows.values())
    assert AFTER_FROM_SCRATCH in capsys.readouterr().out


def test_the_scored_network_is_that_of_the_last_validation(run: Path) -> None:
    model = read_trained_model(run)
    folder = run / "recipes"
    folder.mkdir()
    done = Run(model, find_table_recipe("prato/4bit", 3), folder, 1)
    network = done.network()
    assert sum(1 for _ in ranges(network)) > 20
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
    tokens = model.configuration.training.batch_tokens * 4
    assert validate(network, corpus, tokens).loss == pytest.approx(done.outcome.scores["loss"])
    assert [event["update"] for event in done.events("validation")] == [1, 3]
    assert not done.events("diverged")
    outputs = done.test_outputs()
    translations_file(folder, "prato/4bit", 1).write_text(json.dumps({name: ["kept"] for name in outputs}))
    assert done.test_outputs() == {name: ["kept"] for name in data.TESTS}


def test_post_training_of_table_5_starts_from_the_model_trained_from_scratch(run: Path) -> None:
    model = read_trained_model(run)
    folder = run / "recipes"
    folder.mkdir()
    for name in (CONTROL_FROM_SCRATCH, AFTER_FROM_SCRATCH):
        Run(model, find_table_recipe(name, 2), folder, 1)
    before, after = (
        load_result(folder / f"{name}.compression" / "best.0.pt") for name in (CONTROL_FROM_SCRATCH, AFTER_FROM_SCRATCH)
    )
    assert all(torch.equal(weight, after.weights[name]) for name, weight in before.weights.items())
    assert not torch.equal(before.weights["embedding.weight"], model.weights["embedding.weight"])


def test_rows_of_table_2_are_compared_after_as_many_updates(run: Path, tmp_path: Path) -> None:
    output = tmp_path / "record.json"
    arguments = ["--limit-updates", "2", "--final", "--seed", "7", "--output", str(output)]
    assert main([str(run), "aji-table-2", *arguments]) == 0
    record = read_record(output)
    assert record["provenance"]["seed"] == 7
    baselines = {row["recipe"]: row["against"]["baseline"] for row in record["rows"]}
    for name in (LOGARITHMIC_CONTINUED, LOGARITHMIC_FINE_TUNED, CONTROL_CONTINUED):
        assert baselines[name] == CONTROL_CONTINUED
    assert not any(name.startswith("control/") for name in baselines)

    model, folder = read_trained_model(run), run / "recipes"
    starts = {
        LOGARITHMIC_CONTINUED: LOGARITHMIC_FROM_SCRATCH,
        LOGARITHMIC_FINE_TUNED: CONTROL_FROM_SCRATCH,
        CONTROL_CONTINUED: CONTROL_FROM_SCRATCH,
    }
    for name, earlier in starts.items():
        recipe = msgspec.structs.replace(comparable(find_table_recipe(name, 2)), seed=7)
        start = Run(model, recipe, folder, 1).model.weights
        for parameter, weight in load_result(folder / f"{earlier}.compression" / "best.0.pt").weights.items():
            assert torch.equal(start[parameter], weight)


def test_a_continuation_without_its_earlier_recipe(run: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=f"{LOGARITHMIC_CONTINUED} continues from .* run the recipe {LOGARITHMIC_FROM_SCRATCH} first",
    ):
        main([str(run), LOGARITHMIC_CONTINUED, "--output", str(tmp_path / "record.json")])


def test_table_3_has_the_layout_of_the_paper() -> None:
    measured = {"perplexity": 2.0, "val": {"bleu": 30.0}}
    rows = {name: {"recipe": name, **measured} for name in table_recipes("prato-table-3")}
    found = tables(rows)["prato-table-3"]
    assert len(found) == 14
    assert found[9]["one_range"]["paper_perplexity"] == 3.54 and found[9]["buckets"]["paper_bleu"] == 39.27
    denominator = next(row for row in found if row["operation"] == "denominator")
    assert denominator["one_range"]["perplexity"] == 2.0
    assert denominator["buckets"]["val"]["bleu"] is None and denominator["buckets"]["paper_bleu"] is None


def test_an_unknown_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(run), "prato-table-9"])
    assert "unknown table 'prato-table-9': choose among prato-table-2, prato-table-3, " in capsys.readouterr().err
