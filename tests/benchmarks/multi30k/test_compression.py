"""The benchmark of recipes on a small run: every row of the papers' tables has its recipe, records accumulate."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.multi30k import compression, data
from benchmarks.multi30k.compression import all_names, encoder_sparsity, main
from benchmarks.multi30k.paper_tables import CONTROL, PAPER_TABLES, paper_tables
from benchmarks.multi30k.row_recipes import CONTRASTS, find_row_recipe
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import read_record
from pocketmt.model_file import TransformerArchitecture
from pocketmt.models.presets import preset
from pocketmt.recipes.description.catalogue import recipe_names
from pocketmt.recipes.description.plan import make_plan
from tests.recipes.conftest import architecture
from tests.recipes.tiny_run import write_tiny_run


@pytest.mark.parametrize("name", sorted(file.stem for file in CONTRASTS.glob("*.toml")))
def test_a_contrast_can_be_carried_out(name: str) -> None:
    recipe = find_row_recipe(name)
    assert recipe.name == name
    assert recipe.description and recipe.paper
    assert name not in recipe_names()
    plan = make_plan(recipe, architecture())
    assert plan[-1].matrices or any(stage.pruning for stage in plan)


def test_every_row_of_the_papers_tables_has_its_recipe() -> None:
    rows = [row for table in PAPER_TABLES.values() for row in table]
    assert {row.recipe for row in rows} <= set(all_names())
    # Paper Q prunes what is quantized already.
    assert all(table[0].recipe == ("q-8bit" if name == "q8" else CONTROL) for name, table in PAPER_TABLES.items())


def test_a_papers_table_has_our_figures_beside_its_own() -> None:
    measured = {CONTROL: {"bytes": 100}, "l-log4-error-feedback": {"bytes": 13}}
    baseline, log = paper_tables(measured)["l3"]
    assert baseline["paper_gain"] == 0 and baseline["bytes"] == 100
    assert log["label"] == "4-bit log" and log["bytes"] == 13
    assert log["paper_gain"] == pytest.approx(35.47 - 35.66)
    baseline, log = paper_tables(measured, recurrent=True)["l3"]
    assert (baseline["paper_bleu"], log["paper_bleu"]) == (34.28, 34.22)
    assert log["paper_gain"] == pytest.approx(34.22 - 34.28)
    assert set(paper_tables(measured, recurrent=True)) == {"l2", "l3", "l4", "l6"}


def test_further_calls_add_rows_and_replace_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_tiny_run(tmp_path)
    for name in (data.VALIDATION, *data.TESTS):
        for language, original in (("en", "dev.en"), ("de", "dev.up")):
            (tmp_path / f"{name}.{language}").write_text((tmp_path / original).read_text())
    monkeypatch.setenv("POCKETMT_MULTI30K", str(tmp_path))
    monkeypatch.setattr(compression, "BEAM", 1)
    output = tmp_path / "record.json"
    arguments = ["--limit-updates", "2", "--output", str(output)]
    main([str(run), "uniform8", *arguments])
    assert [row["recipe"] for row in read_record(output)["rows"]] == ["float32", CONTROL, "uniform8"]
    assert "tests" not in read_record(output)["rows"][2]
    main(
        [
            str(run),
            "uniform8",
            "z1-codebook-2bit-after-training",
            "log4-distilled=1",
            "size-5kB=1",
            "--final",
            *arguments,
        ]
    )
    rows = {row["recipe"]: row for row in read_record(output)["rows"]}
    assert list(rows) == [
        "float32",
        CONTROL,
        "uniform8",
        "z1-codebook-2bit-after-training",
        "log4-distilled",
        "size-5kB",
    ]
    assert rows["size-5kB"]["entropy_coded_bytes"] <= 5_000 and rows["size-5kB"]["updates"] == 1
    assert rows["log4-distilled"]["updates"] == 1
    assert 8 < rows["uniform8"]["bits"] < 9 and rows["uniform8"]["updates"] == 0 and rows[CONTROL]["updates"] == 2
    assert rows["uniform8"]["tests"]["lines"] == 16
    assert rows["uniform8"]["against"][CONTROL]["p_value"] is not None
    assert 0 <= rows["uniform8"]["parity"]["same_lines_percent"] <= 100
    assert rows[CONTROL]["against"][CONTROL]["p_value"] is None
    assert "z1-codebook-2bit-after-training" in capsys.readouterr().out
    other = write_tiny_run(tmp_path / "other", seed=2)
    main([str(other), "uniform8", *arguments])
    assert [row["recipe"] for row in read_record(output)["rows"]] == ["float32", CONTROL, "uniform8"]


def test_sparsity_is_what_pruning_took_of_the_encoder() -> None:
    whole = preset("tiny", 100)  # 4 heads and 256 nodes in each of 4 layers
    assert encoder_sparsity(whole) == {"attention": 0, "feed_forward": 0}
    assert isinstance(whole, TransformerArchitecture)
    pruned = replace(whole, encoder_heads=(4, 2, 4, 2), encoder_feed_forward=(64, 64, 256, 128))
    assert encoder_sparsity(pruned) == {"attention": 0.25, "feed_forward": 0.5}
    assert encoder_sparsity(preset("lstm.tiny", 100)) == {"attention": None, "feed_forward": None}


@pytest.mark.parametrize("argument", ["uniform8=", "uniform8=0", "uniform8=many"])
def test_updates_that_are_no_number_are_refused(tmp_path: Path, argument: str) -> None:
    run = write_tiny_run(tmp_path)
    with pytest.raises(ConfigurationError, match="give updates as a whole number from 1, as in 'uniform8=500'"):
        main([str(run), argument, "--output", str(tmp_path / "record.json")])
