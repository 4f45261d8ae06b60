"""The benchmark of kernels: every family is timed, and ratios are above one where a family is faster than int8."""

import json
from pathlib import Path

import pytest

from benchmarks.floor import known_instruction_sets
from benchmarks.kernels import __main__ as program
from benchmarks.kernels.__main__ import FAMILIES, floor_shares, main, summary
from pocketmt.engine import _native_testing as native


def test_ratios_are_taken_round_by_round() -> None:
    seconds = {name: [4.0, 4.0, 8.0] for name in FAMILIES} | {"planes1": [2.0, 1.0, 2.0], "row_table4": [8.0, 4.0, 4.0]}
    found = summary(seconds)
    assert found["microseconds"] == 4e6
    assert found["times_int8"]["planes1"] == 4.0
    assert found["lowest_times_int8"]["row_table4"] == 0.5
    assert found["highest_times_int8"]["row_table4"] == 2.0
    assert found["fastest_times_int8"]["six_bit"] == 1.0


def test_the_longer_limit_binds_and_a_product_as_long_as_it_is_at_the_floor() -> None:
    seconds = {"slow": [4.0, 8.0, 16.0], "small": [2.0, 2.0, 2.0]}
    found = floor_shares(seconds, {"slow": [4.0, 4.0, 9.0], "small": [1.0] * 3}, [2.0, 1.0, 2.0])
    assert found["floor_share"] == {"slow": 0.5, "small": 1.0}
    assert found["fastest_floor_share"] == {"slow": 1.0, "small": 0.5}
    assert found["bound_by"] == {"slow": "reading", "small": "multiply-adds"}
    assert found["reading_microseconds"] == {"slow": 4e6, "small": 1e6}
    assert found["multiply_adds_microseconds"] == {"slow": 2e6, "small": 2e6}


def test_packed_weights_take_the_bytes_that_their_bits_need() -> None:
    for name in known_instruction_sets():
        sizes = {family: native.packed_bytes(name, family, bits, 512, 1024) for family, bits, _ in FAMILIES.values()}
        assert 512 * 1024 <= sizes["integer"] < 1.05 * 512 * 1024
        assert sizes["lookup_table"] < 0.55 * sizes["integer"]
        assert sizes["row_lookup_table"] < 0.55 * sizes["integer"]
        assert native.packed_bytes(name, "binary_code", 2, 512, 1024) < 0.32 * sizes["integer"]


def test_a_small_run_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "STREAMED_BYTES", 1_000_000)
    path = tmp_path / "kernels.json"
    assert main(["--rounds", "2", "--shapes", "100x70", "--counts", "1", "3", "--output", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert len(rows) == len(known_instruction_sets()) * 2 * 2  # from cache and from memory, one row and three
    assert all(len(times) == 2 and min(times) > 0 for row in rows for times in row["seconds"].values())
    assert all(set(row["floor_share"]) == set(FAMILIES) for row in rows)
    assert all(min(row["floor_share"].values()) > 0 for row in rows)
    assert capsys.readouterr().out.count("\n") == 2 * (len(rows) + 2)


def test_what_cannot_be_timed() -> None:
    with pytest.raises(ValueError, match="integer, six_bit, lookup_table, row_lookup_table or binary_code"):
        native.time_products("portable", [("float", 32, False)], 1, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="not empty"):
        native.time_products("portable", [("integer", 8, False)], 1, 0, 1, 1, 1)
