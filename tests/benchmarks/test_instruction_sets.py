"""The programs that measure speed hold every engine to the instruction set that is asked for. No time is asserted."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchmarks import instruction_sets, loading, student_shapes, threads
from benchmarks.command import run
from benchmarks.first_word import first_word_rows
from benchmarks.instruction_sets import held, our_instruction_set, used
from benchmarks.loading import loading_rows
from benchmarks.peer import sides
from benchmarks.peer.files import write_ours
from benchmarks.peer.models import TimedModel, random_network
from benchmarks.peer.sides import Side, ctranslate2_side, marian_side, our_side
from benchmarks.processes import main as processes
from pocketmt.engine import _native_testing as native
from pocketmt.evaluation.records import Machine
from pocketmt.models.presets import preset
from pocketmt.text.vocabulary import SPECIAL_PIECES

PROGRAMS = (
    "benchmarks.binary_codes",
    "benchmarks.first_word",
    "benchmarks.lengths",
    "benchmarks.loading",
    "benchmarks.low_bit_peers.__main__",
    "benchmarks.peer.__main__",
    "benchmarks.processes",
    "benchmarks.schemes.__main__",
    "benchmarks.student_shapes",
    "benchmarks.threads",
)
needs_avx2 = pytest.mark.skipif("avx2" not in native.instruction_sets(), reason="this processor has no AVX2")


def processor(monkeypatch: pytest.MonkeyPatch, *supported: str) -> None:
    """Make the programs see a processor with these instruction sets."""
    for module in (instruction_sets, sides):
        monkeypatch.setattr(module, "machine", lambda: Machine("a processor", 2, 1, supported, "a system"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_instruction_set_that_the_processor_lacks_is_refused_before_any_work(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    processor(monkeypatch, "avx")
    output = tmp_path / "record.json"
    assert run(import_module(program).main, ["--instruction-set", "avx2", "--output", str(output)]) == 1
    assert capsys.readouterr().err == "error: this processor has no avx2: it has avx\n"
    assert not output.exists()


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_unknown_instruction_set_is_refused(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        import_module(program).main(["--instruction-set", "mmx"])
    assert exit.value.code == 2
    assert "invalid choice: 'mmx' (choose from 'avx512_vnni', 'avx2', 'avx_vnni')" in capsys.readouterr().err


@pytest.mark.parametrize("supported", [("avx2", "avx_vnni"), ("avx2", "avx512f", "avx_vnni")])
@pytest.mark.parametrize(("instruction_set", "onednn"), [("avx2", "AVX2"), ("avx_vnni", "AVX2_VNNI")])
def test_every_side_is_held_to_256_bit_registers(
    instruction_set: str, onednn: str, supported: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    processor(monkeypatch, *supported)
    peers = [ctranslate2_side("int8", "folder", "python"), marian_side("int8", "folder", "python", 1.0)]
    ctranslate2, marian, ours = held([*peers, our_side("uniform8", "file", "python")], instruction_set)
    assert len(ctranslate2.settings) == 3
    assert {setting.environment["CT2_FORCE_CPU_ISA"] for setting in ctranslate2.settings} == {"AVX2"}
    assert {setting.environment["ONEDNN_MAX_CPU_ISA"] for setting in ctranslate2.settings} == {onednn}
    assert {setting.environment["INTGEMM_CPUID"] for setting in marian.settings} == {"AVX2"}
    assert ("packed8" in {setting.name for setting in marian.settings}) == ("avx512f" not in supported)
    assert ours.options(ours.settings[0]) == {"instruction_set": instruction_set}


def test_every_side_can_be_held_to_avx512_without_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    processor(monkeypatch, "avx2", "avx512f", "avx512_vnni", "amx_int8")
    peers = [ctranslate2_side("int8", "folder", "python"), marian_side("int8", "folder", "python", 1.0)]
    ctranslate2, marian, ours = held([*peers, our_side("uniform8", "file", "python")], "avx512_vnni")
    assert {setting.environment["CT2_FORCE_CPU_ISA"] for setting in ctranslate2.settings} == {"AVX2", "AVX512"}
    assert {setting.environment["MKL_ENABLE_INSTRUCTIONS"] for setting in ctranslate2.settings} == {"AVX512_E1"}
    assert {setting.environment["INTGEMM_CPUID"] for setting in marian.settings} == {"AVX512VNNI"}
    assert ours.options(ours.settings[0]) == {"instruction_set": "avx512_vnni"}


def test_a_side_has_the_instruction_set_that_it_reports_or_is_held_to(monkeypatch: pytest.MonkeyPatch) -> None:
    processor(monkeypatch, "avx2")
    peer, ours = ctranslate2_side("int8", "folder", "python"), our_side("uniform8", "file", "python")
    assert held([peer, ours], None) == [peer, ours]
    assert used(peer, {"compute_type": "int8"}) is None
    assert used(ours, {"instruction_set": "avx512_vnni"}) == "avx512_vnni"
    (held_peer,) = held([peer], "avx2")
    assert used(held_peer, {"compute_type": "int8"}) == "avx2"


@pytest.mark.parametrize("name", native.instruction_sets())
def test_ours_is_the_best_if_none_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETMT_INSTRUCTION_SET", name)
    assert our_instruction_set(None) == name
    assert our_instruction_set("avx2") == "avx2"


@pytest.fixture
def small(tmp_path: Path) -> tuple[TimedModel, list[Side]]:
    """A small network with one file of ours."""
    network = random_network(preset("tiny", 2000), 1)
    files = write_ours(network, tmp_path, ["uniform8"])
    model = TimedModel("a model", "seed 1", network.architecture, (1, 1), [[SPECIAL_PIECES, 9, 11]], files, {})
    return model, [our_side("uniform8", files["uniform8"], sys.executable)]


def instruction_sets_of(rows: list[dict[str, Any]]) -> set[str]:
    """Return the instruction sets of rows, as the engine reported them."""
    return {row["instruction_set"] for row in rows}


@needs_avx2
def test_rows_of_loading_and_the_first_word_have_the_one_that_the_engine_reports(
    small: tuple[TimedModel, list[Side]],
) -> None:
    model, ours = small
    best = native.instruction_sets()[0]
    for asked, expected in ((None, best), ("avx2", "avx2")):
        assert instruction_sets_of(list(loading_rows("a model", held(ours, asked), rounds=1))) == {expected}
        assert instruction_sets_of(list(first_word_rows(model, held(ours, asked), rounds=1))) == {expected}


@needs_avx2
def test_programs_that_translate_are_started_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "bundled_models", lambda: ["captions-en-de"])
    started: list[tuple[str, ...]] = []

    def program_seconds(arguments: tuple[str, ...]) -> float:
        started.append(arguments)
        return 1.0

    monkeypatch.setattr(loading, "program_seconds", program_seconds)
    *_, translate = loading.program_rows(rounds=1, instruction_set="avx2")
    assert translate["instruction_set"] == "avx2"
    assert started[-1][-2:] == ("--instruction-set", "avx2")


@needs_avx2
@pytest.mark.parametrize("program", [threads.main, processes])
def test_threads_and_processes_are_held_to_it(program: Any, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert program(["--quick", "--instruction-set", "avx2", "--output", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["instruction_set"] == "avx2"
    assert instruction_sets_of(record["rows"]) == {"avx2"}


@needs_avx2
def test_student_shapes_are_held_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [shape for shape in student_shapes.TABLE if shape.name == student_shapes.REFERENCE]
    monkeypatch.setattr(student_shapes, "SENTENCES", 8)
    found = student_shapes.measure(shapes, 320, tmp_path, 1, "avx2")
    assert {each["engine"]["instruction_set"] for each in found} == {"avx2"}
    assert instruction_sets_of(student_shapes.rows_of(shapes, found, 320)) == {"avx2"}
