"""The benchmark of the functions between products: what it measures is what it says. No time is asserted."""

import json
from pathlib import Path

import pytest

from benchmarks.between_products import __main__ as program
from benchmarks.between_products import measurement
from benchmarks.between_products.functions import BASE, Network, functions
from benchmarks.between_products.measurement import floor_share, step
from benchmarks.command import run
from benchmarks.floor import known_instruction_sets
from pocketmt.engine import _native_testing as native

SMALL = Network(width=32, inner=80, heads=2, layers=2, vocabulary=2504, positions=7)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small network, and keys and values that exceed no cache."""
    monkeypatch.setattr(program, "BASE", SMALL)
    monkeypatch.setattr(measurement, "STREAMED_BYTES", 200_000)


def test_a_small_run_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "between-products.json"
    assert program.main(["--rounds", "2", "--counts", "1", "60", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    measured = [(row["instruction_set"], row["function"], row["columns"], row["read_from"]) for row in record["rows"]]
    assert measured == [
        (name, function.name, function.columns, place)
        for name in known_instruction_sets()
        for function in functions(SMALL)
        for place in (("cache", "memory") if function.streamed else ("cache",))
    ]
    for row in record["rows"]:
        assert all(len(seconds) == 2 and min(seconds) > 0 for seconds in row["seconds"].values())
        assert list(row["floor_share"]) == ["1", "60"]
        for count, name in row["bound_by"].items():
            limits = row["limit_microseconds"][count]
            assert limits[name] == max(limits.values()) > 0
            assert row["floor_share"][count] == pytest.approx(limits[name] / row["microseconds"][count])
    assert [(each["instruction_set"], each["count"]) for each in record["steps"]] == [
        (name, count) for name in known_instruction_sets() for count in (1, 60)
    ]
    assert all(0 < each["share"] < 1 for each in record["steps"])
    assert record["network"]["width"] == 32
    assert capsys.readouterr().out.count("\n") == len(record["rows"]) + len(record["steps"]) + 4


def test_one_instruction_set_is_measured_alone(tmp_path: Path) -> None:
    path = tmp_path / "between-products.json"
    for name in known_instruction_sets()[-1:]:
        assert program.main(["--rounds", "1", "--counts", "1", "--instruction-set", name, "--output", str(path)]) == 0
        assert {row["instruction_set"] for row in json.loads(path.read_text())["rows"]} == {name}


def test_an_instruction_set_that_the_processor_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.floor.native.instruction_sets", lambda: ["avx2", "portable"])
    path = tmp_path / "between-products.json"
    assert run(program.main, ["--instruction-set", "avx512_vnni", "--output", str(path)]) == 1
    assert capsys.readouterr().err == "error: this processor has no avx512_vnni: it has avx2\n"
    assert not path.exists()


def test_the_longest_limit_binds_and_a_function_as_long_as_it_is_at_the_floor() -> None:
    found = floor_share([4.0, 8.0, 16.0], {"reading": [4.0, 4.0, 9.0], "writing": [0.0] * 3, "operations": [2.0] * 3})
    assert found["bound_by"] == "reading"
    assert found["floor_share"] == 0.5
    assert found["fastest_floor_share"] == 1.0
    assert found["limit_microseconds"] == {"reading": 4e6, "writing": 0.0, "operations": 2e6}
    assert found["microseconds"] == 8e6


def test_a_step_of_base_calls_each_of_its_functions() -> None:
    called = {(each.name, each.columns): each.calls for each in functions(BASE) if each.calls}
    # Self-attention, its output, the query to the source, its output, and the feed-forward network; and the output.
    assert called[("quantize_rows", 512)] == 6 * 5 + 1
    assert called[("layer_norm", 512)] == 6 * 3
    assert called[("attend_cache", 512)] == called[("attend, one query", 512)] == 6
    assert called[("top_k, 1", 32000)] == called[("embed", 512)] == 1


def test_a_step_counts_keys_and_values_from_memory() -> None:
    for name in known_instruction_sets():
        rows = [
            {"function": "attend_cache", "columns": 32, "calls": 2, "microseconds": {"3": 1e9}},  # from a cache
            {"function": "attend_cache", "columns": 32, "calls": 2, "microseconds": {"3": 5.0}},
            {"function": "swish", "columns": 80, "calls": 0, "microseconds": {"3": 1e9}},
        ]
        found = step(name, SMALL, rows, 3, 1)
        assert found["between_microseconds"] == 10.0
        assert found["share"] == pytest.approx(10.0 / (10.0 + found["product_microseconds"]))


def test_what_cannot_be_timed() -> None:
    sizes = {"rows": 1, "columns": 32, "positions": 1, "heads": 2, "copies": 1, "rounds": 1}
    with pytest.raises(ValueError, match="a function that the engine calls between products"):
        native.time_between_products("portable", "multiply", **sizes)
    with pytest.raises(ValueError, match="sizes of at least 1"):
        native.time_between_products("portable", "swish", **(sizes | {"rows": 0}))
    with pytest.raises(ValueError, match="multiple of 4"):
        native.time_between_products("portable", "attend_cache", **(sizes | {"heads": 16}))
    for name in known_instruction_sets():
        with pytest.raises(ValueError, match="simple or division"):
            native.time_operations(name, "square root", 1)
        with pytest.raises(ValueError, match="at least one byte"):
            native.time_writes(name, 0, 1)
