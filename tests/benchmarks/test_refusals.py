"""Programs of benchmarks that cannot run on a machine say why in one line, with exit status 1 and no traceback."""

import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.peer import sides
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.records import Machine

# Children of other programs, which answer orders on their stdin, and a program with click's options.
NOT_PROGRAMS = {
    "exports/run_marian.py",
    *("peer/run_ctranslate2.py", "peer/run_marian.py", "peer/run_pocketmt.py"),
    *("attention/__main__.py", "four_engines/run_engine.py"),
}
RUN = "benchmarks.multi30k"
NO_CORPUS = "multi30k: there is no such corpus: set POCKETMT_DATA"
ANY_PYTHON = shutil.which("true") or "true"  # appears to have every package


@pytest.fixture(autouse=True)
def without_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder of data."""
    monkeypatch.setenv("POCKETMT_DATA", str(tmp_path / "no-data"))


def refusal(program: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a program that must refuse to run; return its one line."""
    assert run(import_module(program).main, arguments) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: ") and errors.count("\n") == 1, errors
    return errors


@pytest.mark.parametrize(
    ("program", "arguments", "reason"),
    [
        (
            "benchmarks.peer.__main__",
            ["--trained", "captions-en-de-8bit", "--peer-python", ANY_PYTHON],
            NO_CORPUS,
        ),
        ("benchmarks.language_model.__main__", ["--updates", "1"], NO_CORPUS),
        (f"{RUN}.compression", ["no-run", "8bit"], "no-run"),
        (f"{RUN}.pytorch_tables", ["no-run", "prato-table-2"], "no-run"),
        (f"{RUN}.quality", ["no-run"], "no-run"),
        (f"{RUN}.sensitivity", ["no-run"], "no-run"),
        (f"{RUN}.shortlists", ["no-run"], NO_CORPUS),
        (f"{RUN}.students", ["a=no-file.pocketmt"], "no-file.pocketmt"),
        (f"{RUN}.students", ["no-file.pocketmt"], "give a label and a model file"),
        ("benchmarks.sentence_splitting.joined", [], NO_CORPUS),
        ("benchmarks.sentence_splitting.checks", [], "there is no such corpus: set POCKETMT_DATA"),
        ("benchmarks.sentence_splitting.__main__", [], "there is no such corpus: set POCKETMT_DATA"),
        ("benchmarks.ray_faults", [], NO_CORPUS),
        ("benchmarks.serve.load", ["--without-libretranslate"], NO_CORPUS),
        ("benchmarks.serve.faults", ["--requests", "1"], NO_CORPUS),
        ("benchmarks.serve.hour", ["--minutes", "1"], NO_CORPUS),
        ("benchmarks.serve.memory", [], NO_CORPUS),
        ("benchmarks.tutorial.__main__", ["--folder", "no-folder"], NO_CORPUS),
        ("benchmarks.versions", ["no-program", "no-text"], "no-program"),
        ("benchmarks.schemes.__main__", ["--only", "no-form"], "there is no form 'no-form'"),
        ("benchmarks.binary_codes", ["--core", "4096"], "core 4096 is not among those of this process"),
        ("benchmarks.student_shapes", ["--core", "4096"], "core 4096 is not among those of this process"),
    ],
)
def test_what_is_missing_is_named(
    program: str, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reason in refusal(program, arguments, capsys)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("benchmarks.peer.__main__", ["--quick", "--trained", "--random", "tiny"]),
        ("benchmarks.first_word", ["--random", "tiny"]),
    ],
)
def test_without_peers_the_way_to_install_them_is_named(
    program: str, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = tmp_path / "python"  # a Python that has no packages
    without.write_text(f'#!/bin/sh\nexec {sys._base_executable} -I -S "$@"\n')  # type: ignore[attr-defined]
    without.chmod(0o755)
    message = refusal(program, [*arguments, "--peer-python", str(without)], capsys)
    assert f"{without} has no package ctranslate2: pip install" in message
    assert "no-python: cannot be run" in refusal(program, [*arguments, "--peer-python", "no-python"], capsys)
    if "first_word" not in program:
        both = ["--peer-python", ANY_PYTHON, "--marian-python", str(without)]
        marian = refusal(program, [*arguments, *both], capsys)
        assert f"{without} has no package pymarian: `make marian`" in marian


@pytest.mark.parametrize(
    "program", ["benchmarks.floor", "benchmarks.kernels.__main__", "benchmarks.between_products.__main__"]
)
def test_limits_need_an_instruction_set_that_they_are_known_of(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.floor.native.instruction_sets", lambda: ["portable"])
    output = tmp_path / "record.json"
    assert "this processor has portable: limits are measured for" in refusal(program, ["--output", str(output)], capsys)
    assert not output.exists()


@pytest.mark.parametrize(
    ("supported", "kernels"),
    [(("avx2", "avx512f"), {"AVX2", "AVX512"}), (("avx2",), {"AVX2"}), ((), {"GENERIC"})],
)
def test_peers_are_tried_with_kernels_of_this_processor_alone(
    supported: tuple[str, ...], kernels: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides, "machine", lambda: Machine("a processor", 2, 1, supported, "a system"))
    settings = sides.ctranslate2_settings()
    assert {setting.environment["CT2_FORCE_CPU_ISA"] for setting in settings} == kernels
    assert ("packed8avx512" in sides.marian_conversions()) == ("avx512f" in supported)


def test_every_program_ends_this_way() -> None:
    guarded = [path for path in (ROOT / "benchmarks").rglob("*.py") if 'if __name__ == "__main__":' in path.read_text()]
    assert len(guarded) > 15
    for path in guarded:
        if str(path.relative_to(ROOT / "benchmarks")) not in NOT_PROGRAMS:
            assert "sys.exit(run(main))" in path.read_text(), f"{path}: end with sys.exit(run(main))"


def test_errors_of_the_system_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def full(_: object) -> int:
        raise OSError(28, "No space left on device", "record.json")

    def refused(_: object) -> int:
        raise ConfigurationError("not here")

    def lacking(_: object) -> int:
        raise ModuleNotFoundError("No module named 'pysbd'", name="pysbd")

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    assert [run(main, []) for main in (full, refused, lacking, interrupted, lambda _: 0)] == [1, 1, 1, 130, 0]
    full_disk, not_here, package, ctrl_c = capsys.readouterr().err.splitlines()
    assert (full_disk, not_here) == ("error: record.json: No space left on device", "error: not here")
    assert package.startswith("error: the package pysbd is not installed for ")
    assert ctrl_c == "interrupted"


@pytest.mark.skipif(find_spec("ctranslate2") is not None, reason="CTranslate2 is installed")
def test_a_child_without_its_engine_says_so() -> None:
    with pytest.raises(SystemExit, match="error: the package ctranslate2 is not installed"):
        import_module("benchmarks.peer.run_ctranslate2")
