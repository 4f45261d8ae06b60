"""The benchmark of AArch64's instructions: counts are exact, repeat, and are at least what multiply-adds need."""

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.arm_instructions import __main__ as program
from benchmarks.arm_instructions.counting import InstructionCounter, missing
from benchmarks.arm_instructions.emulation import COMPILER, PLUGIN_EMULATOR
from pocketmt.errors import ConfigurationError

needs_emulator = pytest.mark.skipif(missing() is not None, reason=str(missing()))


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> InstructionCounter:
    return InstructionCounter(tmp_path_factory.mktemp("counts"), "Quick")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == PLUGIN_EMULATOR else name)
    with pytest.raises(ConfigurationError, match=r"qemu-aarch64 not found: Debian has qemu-user$"):
        program.main(["--output", str(tmp_path / "record.json")])
    monkeypatch.setattr(shutil, "which", lambda name: None if name in (COMPILER, PLUGIN_EMULATOR) else name)
    assert str(missing()).endswith("g++-aarch64-linux-gnu and qemu-user")


@pytest.mark.parametrize(
    ("instruction_set", "form", "rows", "least"),
    [
        ("portable", "float32", 3, 500),
        ("neon_dot_product", "float32", 3, 250),
        ("neon_dot_product", "8 bits", 64, 62.5),
        ("neon_i8mm", "8 bits", 1, 62.5),
        ("neon_i8mm", "6 bits", 64, 31.25),
        ("neon_i8mm", "8 bits", 3, 31.25 * 4 / 3),
    ],
)
def test_the_least_is_that_of_multiply_adds(instruction_set: str, form: str, rows: int, least: float) -> None:
    assert program.least_per_thousand(instruction_set, form, rows) == pytest.approx(least)


@needs_emulator
@pytest.mark.parametrize("instruction_set", program.BEST)
def test_counts_repeat_and_grow_with_the_matrix(counter: InstructionCounter, instruction_set: str) -> None:
    family, bits = program.FORMS["8 bits"]
    first, again, twice = (
        counter.product(instruction_set, family, bits, outputs, 256, 4) for outputs in (128, 128, 256)
    )
    assert first == again
    assert twice == pytest.approx(2 * first, rel=0.1)


@needs_emulator
def test_a_refusal_is_named(counter: InstructionCounter) -> None:
    with pytest.raises(ConfigurationError, match="there is no family no-family"):
        counter.product("portable", "no-family", 8, 64, 64, 1)
    with pytest.raises(ConfigurationError, match="0 is not a positive whole number"):
        counter.product("portable", "integer", 8, 64, 64, 0)


@needs_emulator
def test_a_small_run_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    small = ["--build", "Quick", "--outputs", "64", "--inputs", "256", "--rows", "1", "8"]
    assert program.main([*small, "--models", "captions-en-de-8bit", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert [(row["form"], row["rows"]) for row in record["products"]] == [
        (form, rows) for form in program.FORMS for rows in (1, 8)
    ]
    for row in record["products"]:
        assert set(row["instructions"]) == set(program.BEST)
        assert min(row["times_least"].values()) > 1
        assert row["per_thousand"]["neon_dot_product"] < row["per_thousand"]["portable"]
    greedy, beam = record["sentences"]
    for name in program.BEST:
        assert beam["instructions"][name] > greedy["instructions"][name] > 0
        assert greedy["million_instructions"][name] * len(program.SENTENCES) == pytest.approx(
            1e-6 * greedy["instructions"][name]
        )
    assert greedy["instructions"]["neon_i8mm"] < greedy["instructions"]["neon_dot_product"]
    assert (greedy["million_multiply_adds"] > 1, beam["million_multiply_adds"]) == (True, None)
    assert "million multiply-adds" in capsys.readouterr().out
