"""No command replaces a file that it reads."""

import shutil
from pathlib import Path

import pytest

from pocketmt.cli.main import run
from pocketmt.cli.options import RUN_FILES
from pocketmt.training import run as training
from tests.compression.tiny_run import write_tiny_run

from .conftest import Run

REFUSED = "is read, and would be replaced: name another file to write"


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, random_model: Path, tiny_run: Path) -> Path:
    """A folder with a model, a run and text, which is the current one."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(random_model, "m.pocketmt")
    shutil.copytree(tiny_run, "run")
    for name in ("s.en", "t.de", "links", "like.pocketmt", "s.svg", "c.toml", "r.toml", "v.model"):
        Path(name).write_text("a bird\n")
    Path("terms.tsv").write_text("bird\tVogel\n")
    Path("link.en").symlink_to("s.en")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        "compare m.pocketmt m.pocketmt -t s.en -o s.en",
        "compare m.pocketmt m.pocketmt -t s.en --json link.en",
        "compare m.pocketmt m.pocketmt -t s.en -r t.de --json t.de",
        "compare m.pocketmt everyday-en-de -t s.en --json m.pocketmt",
        "compare everyday-en-de m.pocketmt -t s.en -o m.pocketmt",
        "translate -m m.pocketmt -i s.en -o m.pocketmt",
        "translate -m m.pocketmt -i s.en -o s.en",
        "translate -m m.pocketmt -i link.en -o s.en",
        "translate -m m.pocketmt -i file://s.en -o s.en",
        "translate -m m.pocketmt -i local://link.en -o s.en",
        "translate -m m.pocketmt --terms terms.tsv -i s.en -o terms.tsv",
        "translate -m run -i s.en -o run/vocabulary.model",
        "shortlist m.pocketmt -s s.en -t t.de -o s.en",
        "shortlist m.pocketmt -s s.en -t t.de -o t.de",
        "shortlist m.pocketmt -s s.en -t t.de --alignments links -o links",
        "shortlist m.pocketmt --like like.pocketmt -o like.pocketmt",
        "shortlist m.pocketmt -s s.en -t t.de -o t.de --recall-source s.en --recall-target t.de",
        "compress m.pocketmt 8bit -o m.pocketmt",
        "compress m.pocketmt 8bit --text s.en -o s.en",
        "compress m.pocketmt r.toml -o r.toml",
        "compress m.pocketmt 8bit --configuration c.toml -o c.toml",
        "compress run 8bit -o run/model.safetensors",
        "pack run -o run/model.safetensors",
        "sensitivity m.pocketmt --text s.svg --picture s.svg",
        "distill m.pocketmt --text s.en -o out.en m.pocketmt",
        "distill m.pocketmt --text s.en -o s.en out.de",
        "distill m.pocketmt --text file://s.en -o s.en out.de",
        "clean s.en t.de -o s.en out.de",
        "clean file://s.en file://t.de -o out.en t.de",
        "clean s.en t.de --language-model-text file://v.model -o out.en v.model",
        "clean s.en t.de --vocabulary v.model --improbable 0 -o out.en v.model",
    ],
)
def test_a_file_that_is_read_is_not_replaced(folder: Path, arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    assert run(arguments.split()) == 1
    assert REFUSED in capsys.readouterr().err
    assert contents(folder) == before


def test_a_shortlist_may_be_added_to_the_model_itself(folder: Path, pocketmt: Run) -> None:
    model = folder / "m.pocketmt"
    before = model.read_bytes()
    answer = pocketmt("shortlist", model, "-s", folder / "s.en", "-t", folder / "t.de", "-o", model)
    assert answer.returncode == 0, answer.stderr
    after = model.read_bytes()
    assert after != before
    answer = pocketmt("shortlist", model, "--like", model, "-o", model)
    assert answer.returncode == 0, answer.stderr
    assert model.read_bytes() == after


def test_the_files_of_a_run_are_those_that_training_writes() -> None:
    written = (training.SETTINGS, training.VOCABULARY, training.LOG, training.CHECKPOINT, training.MODEL)
    assert written == RUN_FILES
