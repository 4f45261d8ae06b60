"""Mistakes that are reported before any work: numbers that cannot be, files of the wrong kind, missing hardware."""

from pathlib import Path

import pytest
import torch

from pocketmt.cli.main import run
from pocketmt.cli.options import LARGEST_BEAM, MOST_WORKERS
from pocketmt.engine import _native, translator
from tests.compression.tiny_run import write_tiny_run

CONFIGURATION = """
[data]
source_language = "{source}"
target_language = "de"
training_source = "train.tsv"
validation_source = "train.tsv"
[training]
accelerator = "{accelerator}"
"""


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_configuration(source: str = "en", accelerator: str = "cpu") -> None:
    Path("train.tsv").write_text("a red house\tein rotes Haus\n")
    Path("c.toml").write_text(CONFIGURATION.format(source=source, accelerator=accelerator))


def test_the_largest_beam_is_the_engines() -> None:
    assert _native.max_beam_size == LARGEST_BEAM
    assert translator.MOST_WORKERS == MOST_WORKERS


@pytest.mark.parametrize(
    "arguments",
    [
        ["translate", "--beam-size", str(10**30)],
        ["translate", "--beam-size", "257"],
        ["benchmark", "m.pocketmt", "text.en", "--lines", "99999999999999999"],
        ["benchmark", "m.pocketmt", "text.en", "--repeats", "99999999999999999"],
        ["compress", "run", "--tolerated-loss", "nan", "-o", "a.pocketmt"],
        ["compress", "run", "--tolerated-loss", "inf", "-o", "a.pocketmt"],
        ["clean", "a", "b", "--improbable", "nan", "-o", "c", "d"],
        ["clean", "a", "b", "--maximum-ratio", "nan", "-o", "c", "d"],
        ["serve", "--model-memory", "9" * 400],
        ["serve", "--model-memory", "9" * 19],
    ],
)
def test_numbers_that_cannot_be_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    message = capsys.readouterr().err
    assert any(each in message for each in ("is not in the range", "is not a finite number", "is not a size"))
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("coding", [[], ["--entropy-coding"]])
def test_an_impossible_size_is_refused_before_anything_is_scored(
    tiny_run: Path, coding: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("pocketmt.compression.choosing.allocation.validation_loss", None)
        assert run(["compress", str(tiny_run), "--target-size", "2kB", "-o", "a.pocketmt", *coding]) == 1
    message = capsys.readouterr().err
    assert "a file of 2,000 bytes is too small for this model: it needs at least " in message
    possible = message.partition("Ask for --target-size ")[2].split()[0]
    arguments = ["compress", str(tiny_run), "--target-size", possible, "--updates", "0", "-o", "a.pocketmt", *coding]
    assert run(arguments) == 0
    assert Path("a.pocketmt").stat().st_size <= 1000 * int(possible.removesuffix("kB"))


def test_an_impossible_size_is_refused_before_text_is_translated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def translate(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("pocketmt.compression.choosing.target.translated_text", translate)
    Path("text.en").write_text("a red house\n")
    assert run(["compress", "captions-en-de", "--text", "text.en", "--target-size", "10", "-o", "a.pocketmt"]) == 1
    assert "a file of 10 bytes is too small for this model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compress", "m.pocketmt", "log4-distilled", "-o", "a.pocketmt"], "m.pocketmt: "),
        (["pack", "m.pocketmt", "-o", "a.pocketmt"], "`pocketmt compress m.pocketmt 8bit --output small.pocketmt`"),
        (["sensitivity", "m.pocketmt"], "m.pocketmt: "),
        (["compress", "c.toml", "log4-distilled", "-o", "a.pocketmt"], "c.toml: "),
        (["pack", "nowhere", "-o", "a.pocketmt"], "nowhere: no such folder: give the folder of a run"),
        (
            ["pipeline", "c.toml", "-o", "out"],
            "c.toml is the configuration of a training run: give it to `pocketmt train",
        ),
        (["train", "p.toml", "-o", "out"], "p.toml is the configuration of a pipeline: give it to `pocketmt pipeline"),
        (["train", "r.toml", "-o", "out"], "r.toml is a recipe: give it to `pocketmt compress RUN r.toml`"),
        (["compress", "captions-en-de", "e.toml", "-o", "a.pocketmt"], "e.toml: stages[0]: it neither prunes"),
        (["compress", ".", "c.toml", "-o", "a.pocketmt"], "c.toml is the configuration of a training run"),
    ],
)
def test_files_of_the_wrong_kind_are_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_configuration()
    Path("m.pocketmt").write_bytes(b"model")
    Path("p.toml").write_text('name = "a"\nteachers = ["c.toml"]\nstudent = "c.toml"\nrecipe = "8bit"\n')
    Path("r.toml").write_text('name = "a"\n[[stages]]\n')
    Path("e.toml").write_text('name = "a"\n[[stages]]\n')
    start = sorted(Path().iterdir())
    assert run(arguments) == 1
    assert message in capsys.readouterr().err
    assert sorted(Path().iterdir()) == start


@pytest.mark.parametrize(
    "arguments",
    [
        ["pack", "{run}"],
        ["compress", "{run}", "8bit"],
        ["compress", "{run}", "--target-size", "900kB"],
        ["compress", "captions-en-de", "8bit", "--low-memory"],
        ["shortlist", "captions-en-de", "--source", "train.tsv"],
        ["import", "{run}"],
    ],
)
def test_a_model_replaces_no_other_file(
    tiny_run: Path, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write_configuration()
    before = Path("c.toml").read_text()
    (folder := tmp_path / "folder").mkdir()
    assert run([*(each.format(run=tiny_run) for each in arguments), "--output", "c.toml"]) == 1
    assert "c.toml exists and is not a model file: name another file to write\n" in capsys.readouterr().err
    assert Path("c.toml").read_text() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["c.toml", folder.name, "train.tsv"]


def test_the_folder_of_a_run_is_no_model_file(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["translate", "-m", str(tiny_run)], ["inspect", str(tiny_run)]):
        assert run(arguments) == 1
        assert f"`pocketmt pack {tiny_run} --output NAME.pocketmt`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["translate", "Where is it?"],
            "(Where is it?): text is read from standard input, as in `echo TEXT | pocketmt translate`",
        ),
        (["translate", "-i", "a.en", "--input", "b.en"], "--input is given 2 times: give it once"),
        (["translate", "-o", "a.de", "-o", "b.de", "-o", "c.de"], "--output is given 3 times: give it once"),
        (["pack", "run", "-o", "a.pocketmt", "--output", "b.pocketmt"], "--output is given 2 times"),
        (["clean", "a", "b", "-o", "c", "d", "-o", "e", "f"], "--output is given 2 times"),
        (["pack", "run"], "Missing option '--output' / '-o'"),
        (["clean", "a", "b"], "Missing option '--output' / '-o'"),
        (["translate", "--format", "tsv", "--json"], "and --json need --format text, not tsv"),
        (["translate", "--column", "2"], "--column needs --format tsv, not text"),
    ],
)
def test_arguments_that_would_be_left_out_are_usage_errors(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize("accelerator", ["cuda", "gpu"])
def test_training_on_a_missing_gpu_is_refused(accelerator: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_configuration(accelerator=accelerator)
    assert run(["train", "c.toml", "-o", "run"]) == 1
    message = capsys.readouterr().err
    assert f'accelerator is "{accelerator}", but PyTorch' in message and 'choose "auto" or "cpu"' in message
    assert not Path("run").exists()


def test_a_language_is_given_by_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    write_configuration(source="french")
    assert run(["train", "c.toml", "-o", "run"]) == 1
    assert "c.toml: data: 'french' is not the code of a language: write 'fr'" in capsys.readouterr().err
    write_configuration(source="xx")
    assert run(["train", "c.toml", "-o", "run"]) == 1  # One pair is too little for the vocabulary.
    assert "warning: no language has the code 'xx'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compress", "translate", "pipeline"])
def test_only_train_runs_under_torchrun(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run([command]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert (
        "torchrun has started 2 processes, which all would do the same work: only train shares its work among "
        in message
    )
    assert f"run pocketmt {command} without torchrun" in message
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert run(["train"]) == 2
    assert "torchrun" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--licence", "--description"])
@pytest.mark.parametrize("arguments", [["pack", "run"], ["compress", "run", "8bit"], ["import", "folder"]])
def test_text_that_no_file_can_hold_is_refused(
    arguments: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes of an argument that are not UTF-8 reach Python as lone surrogates."""
    assert run([*arguments, "-o", "out.pocketmt", option, "a\udcff"]) == 2
    assert "has bytes that are no characters: give text in UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            ["translate", *cluster, option, "a\udcff"]
            for option in ("--prefix", "--suppress", "--source-language", "--target-language")
            for cluster in (["--ray", "local", "-i", "x.en", "-o", "shards"], [])
        ),
        ["serve", "--host", "a\udcff"],
        ["evaluate", "-m", "captions-en-de", "--source-language", "a\udcff"],
    ],
)
def test_options_that_are_no_text_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.en").touch()
    assert run(arguments) == 2
    assert "has bytes that are no characters: give text in UTF-8" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["x.en"]


@pytest.mark.parametrize("cluster", [[], ["--ray", "local"]])
@pytest.mark.parametrize("option", ["-i", "-o"])
def test_an_empty_path_is_refused(option: str, cluster: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["translate", *cluster, "-i", "x.en", "-o", "shards", option, ""]) == 2
    assert "the path is empty: give a path" in capsys.readouterr().err
    assert list(Path().iterdir()) == []
