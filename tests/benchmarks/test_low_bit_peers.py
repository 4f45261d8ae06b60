"""The benchmark of products of few bits beside ggml: what is missing is named, and both sides compute products."""

import ctypes
import json
import random
from pathlib import Path

import pytest

from benchmarks.low_bit_peers.__main__ import LIBRARIES, libraries, main
from benchmarks.low_bit_peers.ggml import Ggml, Products
from pocketmt.engine import _native_testing as native
from pocketmt.errors import ConfigurationError

SHAPE = 64, 256


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"ggml is not there .*: run `make ggml`"):
        main(["--ggml", str(tmp_path)])


@pytest.fixture(scope="module")
def ggml() -> Ggml:
    return compiled(None)


def compiled(instruction_set: str | None) -> Ggml:
    if not (LIBRARIES[instruction_set] / "libggml-cpu.so").exists():
        pytest.skip("ggml is not compiled: run `make ggml`")
    return libraries(None, instruction_set)


@pytest.mark.parametrize("name", ["q8_0", "q4_0", "q2_K"])
@pytest.mark.parametrize("repacked", [False, True])
def test_its_products_are_those_of_the_weights(ggml: Ggml, name: str, repacked: bool) -> None:
    outputs, inputs = SHAPE
    draw = random.Random(1)
    weights = [draw.gauss(0, 1) for _ in range(outputs * inputs)]
    vector = [draw.gauss(0, 1) for _ in range(inputs)]
    type = ggml.type(name)
    kind = ggml.repacked if repacked else ggml.plain
    assert kind is not None
    products = Products(ggml, type, SHAPE, 2, kind)
    if products.supported():
        products.fill(ggml.quantized(type, (ctypes.c_float * len(weights))(*weights), *SHAPE))
        found = products.multiply((ctypes.c_float * inputs)(*vector))
        expected = [sum(weights[output * inputs + i] * vector[i] for i in range(inputs)) for output in range(outputs)]
        error = sum((a - b) ** 2 for a, b in zip(found, expected, strict=True)) / sum(b * b for b in expected)
        assert error < {"q8_0": 1e-3, "q4_0": 0.02, "q2_K": 0.2}[name]
    else:
        assert repacked and name == "q8_0"
    products.close()


def test_every_format_has_a_row(ggml: Ggml, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--rounds", "1"]) == 0
    table = capsys.readouterr().out
    assert "1 bit, binary codes" in table and "q2_K" in table


def test_libraries_for_other_instructions_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Ggml, "__init__", lambda ggml, _: setattr(ggml, "instruction_set", "avx512_vnni"))
    with pytest.raises(ConfigurationError, match="ggml is compiled for avx512_vnni, not for avx2"):
        libraries(tmp_path, "avx2")


def test_an_instruction_set_without_its_own_libraries_needs_those_for_this_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Ggml, "__init__", lambda ggml, _: setattr(ggml, "instruction_set", "avx_vnni"))
    assert libraries(None, "avx_vnni").instruction_set == "avx_vnni"
    monkeypatch.setattr(Ggml, "__init__", lambda ggml, _: setattr(ggml, "instruction_set", "avx512_vnni"))
    with pytest.raises(ConfigurationError, match="ggml is compiled for avx512_vnni, not for avx_vnni"):
        libraries(None, "avx_vnni")


def test_both_sides_are_held_to_avx2(tmp_path: Path) -> None:
    if "avx2" not in native.instruction_sets():
        pytest.skip("this processor has no AVX2")
    assert compiled("avx2").instruction_set == "avx2"
    path = tmp_path / "record.json"
    assert main(["--quick", "--rounds", "1", "--instruction-set", "avx2", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert {(row["side"], row["instruction_set"]) for row in record["rows"]} == {("PocketMT", "avx2"), ("ggml", "avx2")}


def test_without_an_instruction_set_each_side_has_the_best_of_this_processor(ggml: Ggml, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert main(["--quick", "--rounds", "1", "--output", str(path)]) == 0
    found = {row["side"]: row["instruction_set"] for row in json.loads(path.read_text())["rows"]}
    assert found == {"PocketMT": native.best_instruction_set(), "ggml": ggml.instruction_set}
