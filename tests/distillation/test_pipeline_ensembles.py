"""Teachers of a pipeline that are an ensemble."""

from pathlib import Path

import pytest

from pocketmt.cli.main import run as run_here
from tests.distillation.test_pipeline import DATA, PIPELINE, STUDENT
from tests.training.test_run import write_corpus


@pytest.mark.parametrize("key", ['[model]\nfirst_decoder_input = "zero"', '[data]\nunit = "document"'])
def test_teachers_that_cannot_translate_together_are_not_trained(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_corpus(tmp_path, pairs=80)
    (tmp_path / "more.en").write_text("red cat\n")
    (tmp_path / "teacher.toml").write_text(DATA + "[model]\nmodel_dimension = 16\nattention_dimension = 16\n")
    (tmp_path / "student.toml").write_text(DATA + STUDENT)
    table, _, setting = key.partition("\n")
    (tmp_path / "other.toml").write_text((tmp_path / "teacher.toml").read_text().replace(table, key))
    (tmp_path / "pipeline.toml").write_text(PIPELINE.replace('"teacher.toml"]', '"other.toml"]'))
    assert run_here(["pipeline", str(tmp_path / "pipeline.toml"), "--output", str(tmp_path / "work")]) == 1
    name, _, value = setting.replace('"', "").partition(" = ")
    assert f"the teacher teacher2: its {name} is {value}, that of teacher1" in capsys.readouterr().err
    assert not (tmp_path / "work" / "teacher1").exists()
