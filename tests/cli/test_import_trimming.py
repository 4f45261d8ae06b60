"""`pocketmt import --text`: vocabularies trimmed to given text, and what is lost."""

from pathlib import Path

import pytest

from pocketmt.cli.main import run
from pocketmt.model_file import open_model
from tests.cli.conftest import Run
from tests.interop.hugging_face.folders import write_marian
from tests.interop.toy_text import SOURCE_LINES, TARGET_LINES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("opus")
    write_marian(path / "model")
    for name, lines in (("source", SOURCE_LINES), ("target", TARGET_LINES)):
        (path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (path / f"few.{name}").write_text(f"{next(iter(lines))}\n", encoding="utf-8")
    return path


def test_rows_of_other_pieces_are_cut(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    assert pocketmt("import", folder / "model", "-o", tmp_path / "whole.pocketmt").returncode == 0
    arguments = ("--text", folder / "few.source", "--text", folder / "few.target")
    measured = ("--held-out", folder / "source", "--references", folder / "target")
    result = pocketmt(
        "import", folder / "model", "-o", tmp_path / "small.pocketmt", "--target-language", "deu", *arguments, *measured
    )
    assert result.returncode == 0, result.stderr
    said = result.stderr.decode()
    assert "vocabulary trimmed from" in said and "source: " in said and "BLEU " in said
    with open_model(tmp_path / "whole.pocketmt") as whole, open_model(tmp_path / "small.pocketmt") as small:
        assert small.architecture.vocabulary_size < whole.architecture.vocabulary_size
        assert small.file_bytes < whole.file_bytes
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.pocketmt", "whole.pocketmt"]


@pytest.mark.parametrize("name", ["source", "target", "few.source"])
def test_text_that_is_read_is_not_replaced(pocketmt: Run, folder: Path, name: str) -> None:
    before = (folder / name).read_bytes()
    options = ("--text", folder / "few.source", "--held-out", folder / "source", "--references", folder / "target")
    result = pocketmt("import", folder / "model", "-o", folder / name, *options)
    assert result.returncode == 1
    assert b"is read, and would be replaced" in result.stderr
    assert (folder / name).read_bytes() == before


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--keep-languages", "deu"), "--keep-languages needs --text"),
        (("--held-out", "a"), "--held-out needs --text"),
        (("--text", "{few}", "--references", "a"), "--references needs --held-out"),
        (("--text", "{few}", "--keep-languages", "xyz"), "no language 'xyz'"),
        (("--text", "/dev/null"), "the text has no pieces"),
    ],
)
def test_what_cannot_be_trimmed(
    pocketmt: Run, folder: Path, tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    given = (option.format(few=folder / "few.source") for option in options)
    result = pocketmt("import", folder / "model", "-o", tmp_path / "small.pocketmt", *given)
    assert result.returncode != 0
    assert reason in result.stderr.decode()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("held_out", "references", "reason"),
    [
        ("missing", None, "missing: No such file"),
        ("source", "missing", "missing: No such file"),
        ("source", "few.target", "has 1: the two files of a corpus must be parallel"),
        ("source", "source", "is given for both sides"),
        ("latin", None, "not UTF-8"),
    ],
)
def test_text_to_measure_is_checked_before_the_import(
    folder: Path,
    tmp_path: Path,
    held_out: str,
    references: str | None,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("pocketmt.interop.importing.read_foreign", None)
    (folder / "latin").write_bytes("grün\n".encode("latin-1"))
    options = ["--text", str(folder / "few.source"), "--held-out", str(folder / held_out)]
    options += [] if references is None else ["--references", str(folder / references)]
    assert run(["import", str(folder / "model"), "-o", str(tmp_path / "small.pocketmt"), *options]) == 1
    assert reason in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_a_failed_measurement_says_that_the_file_was_written(pocketmt: Run, folder: Path, tmp_path: Path) -> None:
    (folder / "broken.tsv").write_text("one column\n", encoding="utf-8")
    options = ("--text", folder / "few.source", "--text", folder / "few.target")
    measured = ("--held-out", folder / "broken.tsv", "--references", folder / "broken.tsv")
    result = pocketmt("import", folder / "model", "-o", tmp_path / "small.pocketmt", *options, *measured)
    assert result.returncode == 1
    assert f"note: {tmp_path / 'small.pocketmt'} was written, but its loss could not be" in result.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["small.pocketmt"]
