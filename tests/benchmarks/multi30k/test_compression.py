"""The benchmark of recipes on a small run: every row of the papers' tables has a recipe, records accumulate."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.multi30k import data, quality
from benchmarks.multi30k.compression import all_names, encoder_sparsity, main
from benchmarks.multi30k.paper_tables import CONTROL, PAPER_TABLES, paper_tables
from benchmarks.record_files import read_record
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import TransformerArchitecture
from pocketmt.models.presets import preset
from tests.compression.tiny_run import write_tiny_run


def test_every_row_of_the_papers_tables_has_its_recipe() -> None:
    rows = [row for table in PAPER_TABLES.values() for row in table]
    assert {row.recipe for row in rows} <= set(all_names())
    # Prato et al. 2020 prune a quantized model.
    controls = {name: table[0].recipe for name, table in PAPER_TABLES.items()}
    assert controls == {**dict.fromkeys(PAPER_TABLES, CONTROL), "prato-table-8": "prato/8bit"}


def test_a_papers_table_has_our_figures_and_its_own() -> None:
    measured = {CONTROL: {"bytes": 100}, "aji/log4-error-feedback": {"bytes": 13}}
    baseline, log = paper_tables(measured)["aji-table-3"]
    assert baseline["paper_gain"] == 0 and baseline["bytes"] == 100
    assert log["label"] == "4-bit log" and log["bytes"] == 13
    assert log["paper_gain"] == pytest.approx(35.47 - 35.66)
    baseline, log = paper_tables(measured, recurrent=True)["aji-table-3"]
    assert (baseline["paper_bleu"], log["paper_bleu"]) == (34.28, 34.22)
    assert log["paper_gain"] == pytest.approx(34.22 - 34.28)
    assert set(paper_tables(measured, recurrent=True)) == {f"aji-table-{number}" for number in (2, 3, 4, 6)}


def test_later_calls_add_rows_and_replace_those_of_their_recipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_tiny_run(tmp_path)
    (tmp_path / "multi30k").mkdir()
    for name in (data.VALIDATION, *data.TESTS):
        for language, original in (("en", "dev.en"), ("de", "dev.up")):
            (tmp_path / "multi30k" / f"{name}.{language}").write_text((tmp_path / original).read_text())
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path))
    monkeypatch.setattr(quality, "BEAM", 1)
    output = tmp_path / "record.json"
    arguments = ["--limit-updates", "2", "--output", str(output)]
    main([str(run), CONTROL, "8bit", *arguments])
    assert [row["recipe"] for row in read_record(output)["rows"]] == ["float32", CONTROL, "8bit"]
    assert read_record(output)["rows"][2]["control"]["recipe"] == "float32"
    assert "tests" not in read_record(output)["rows"][2]
    main(
        [
            str(run),
            CONTROL,
            "8bit",
            "cheong/codebook-2bit-after-training",
            "log4-distilled=1",
            "size-5kB=1",
            "--final",
            *arguments,
        ]
    )
    rows = {row["recipe"]: row for row in read_record(output)["rows"]}
    controls = [rows[name]["control"]["recipe"] for name in ("log4-distilled", "size-5kB")]
    assert [name for name in rows if name not in controls] == [
        "float32",
        CONTROL,
        "8bit",
        "cheong/codebook-2bit-after-training",
        "log4-distilled",
        "size-5kB",
    ]
    assert rows[controls[0]]["bits"] == 32 and rows[controls[0]]["updates"] == rows["log4-distilled"]["updates"]
    assert all(row["best_update"] > 0 for row in rows.values() if row["updates"])
    assert rows["log4-distilled"]["against"]["control"]["p_value"] is not None
    assert rows["size-5kB"]["entropy_coded_bytes"] <= 5_000 and rows["size-5kB"]["updates"] == 1
    assert rows["log4-distilled"]["updates"] == 1
    assert 8 < rows["8bit"]["bits"] < 9 and rows["8bit"]["updates"] == 0 and rows[CONTROL]["updates"] == 2
    assert rows["8bit"]["tests"]["lines"] == 16
    assert rows["8bit"]["against"][CONTROL]["p_value"] is not None
    assert 0 <= rows["8bit"]["parity"]["same_lines_percent"] <= 100
    assert rows[CONTROL]["against"][CONTROL]["p_value"] is None
    assert "cheong/codebook-2bit-after-training" in capsys.readouterr().out
    other = write_tiny_run(tmp_path / "other", seed=2)
    main([str(other), "8bit", *arguments])
    record = read_record(output)
    assert [row["recipe"] for row in record["rows"]] == ["float32", "8bit"]
    assert [row["recipe"] for row in record["tables"]["aji-table-6"]] == ["float32"]


def test_sparsity_is_the_pruned_share_of_the_encoder() -> None:
    whole = preset("tiny", 100)  # 4 heads and 256 nodes in each of 4 layers
    assert encoder_sparsity(whole) == {"attention": 0, "feed_forward": 0}
    assert isinstance(whole, TransformerArchitecture)
    pruned = replace(whole, encoder_heads=(4, 2, 4, 2), encoder_feed_forward=(64, 64, 256, 128))
    assert encoder_sparsity(pruned) == {"attention": 0.25, "feed_forward": 0.5}
    assert encoder_sparsity(preset("lstm.tiny", 100)) == {"attention": None, "feed_forward": None}


@pytest.mark.parametrize("argument", ["8bit=", "8bit=0", "8bit=many"])
def test_invalid_numbers_of_updates_are_refused(tmp_path: Path, argument: str) -> None:
    run = write_tiny_run(tmp_path)
    with pytest.raises(ConfigurationError, match="give updates as a whole number from 1, as in '8bit=500'"):
        main([str(run), argument, "--output", str(tmp_path / "record.json")])
