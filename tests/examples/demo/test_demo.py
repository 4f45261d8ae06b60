import shutil
import sys
from pathlib import Path

import pytest

from examples.demo import __main__ as demo


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--quick", 2), ("folder", 2)])
def test_help_and_unknown_arguments_run_nothing(
    argument: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    with pytest.raises(SystemExit) as exit_:
        demo.main([argument])
    assert exit_.value.code == status
    printed = capsys.readouterr()
    assert "usage: python -m examples.demo" in (printed.err if status else printed.out)
    assert ("Makes a small model of a large one" in printed.out) == (status == 0)
    assert list(tmp_path.iterdir()) == []


def test_the_demo_ends_with_a_smaller_model_and_a_comparison(
    commands: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "examples" / "demo"
    shutil.copytree(demo.DEMO, given)
    for name, setting, short in (
        ("student.toml", "maximum_updates = 800", "maximum_updates = 2"),
        ("recipe.toml", "updates = 100", "updates = 2"),
        ("recipe.toml", "warmup_updates = 10", "warmup_updates = 1"),
    ):
        text = (given / name).read_text(encoding="utf-8")
        assert setting in text
        (given / name).write_text(text.replace(setting, short), encoding="utf-8")
    pairs = (given / "test.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    (given / "test.tsv").write_text("".join(pairs[:20]), encoding="utf-8")
    programs = tmp_path / "programs"  # The demo runs programs beside that of Python.
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    (programs / "pocketmt").symlink_to(commands / "pocketmt")
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setattr(demo, "DEMO", given)
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    monkeypatch.setattr(demo, "TEXTS", {"sentences.en": (60, 1), "validation.en": (20, 2)})
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
    assert demo.main([]) == 0
    folder = tmp_path / demo.FOLDER
    sizes = [(folder / name).stat().st_size for name in ("teacher.pocketmt", "run/model.pocketmt")]
    assert sizes[1] < 0.25 * sizes[0]
    assert (folder / "comparison.html").stat().st_size > 10000
    printed = capsys.readouterr().out
    assert "student, 4 bits" in printed
    assert "Wo ist der Bahnhof?" in printed
