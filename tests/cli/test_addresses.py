"""distill and clean read texts at addresses, and write what they write of local files."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import ClassVar

import fsspec  # type: ignore[import-untyped]
import pytest

from pocketmt.cli.main import run
from tests.compression.tiny_run import write_tiny_run

BUCKET = "memory://bucket/texts"


class Web(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A web server."""

    protocol = "http"
    pages: ClassVar[dict[str, bytes]] = {}

    def _open(self, path: str, *arguments: object, **options: object) -> io.BytesIO:
        return io.BytesIO(self.pages[f"http://{path}"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with text and a teacher; the text is in a bucket of memory, too."""
    folder = tmp_path_factory.mktemp("tiny")
    write_tiny_run(folder)
    for name in ("train.en", "train.up", "dev.en", "dev.up"):
        with fsspec.open(f"{BUCKET}/{name}", "wb") as stream:
            stream.write((folder / name).read_bytes())
    return folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(path))
    return path


def outputs(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.en", folder / f"{name}.up"]


def test_distill(folder: Path, tmp_path: Path, temporary: Path) -> None:
    for name, place in (("local", str(folder)), ("bucket", BUCKET)):
        texts = ["--text", f"{place}/dev.en", "--text", f"{place}/train.en"]
        written = map(str, outputs(tmp_path, name))
        assert run(["distill", str(folder / "run"), *texts, "-b", "1", "--device", "cpu", "-o", *written]) == 0
    for local, copied in zip(outputs(tmp_path, "local"), outputs(tmp_path, "bucket"), strict=True):
        assert local.read_bytes() == copied.read_bytes() != b""
    record = json.loads((tmp_path / "bucket.en.distillation.json").read_text())
    assert [text["path"] for text in record["texts"]] == [f"{BUCKET}/dev.en", f"{BUCKET}/train.en"]
    assert list(temporary.iterdir()) == []


def test_distill_with_references(folder: Path, tmp_path: Path) -> None:
    parallel = ["--parallel", f"{BUCKET}/dev.en", f"file://{folder}/dev.up"]
    written = map(str, outputs(tmp_path, "out"))
    command = ["distill", str(folder / "run"), *parallel, "-b", "2", "-n", "2", "--device", "cpu", "-o", *written]
    assert run(command) == 0
    record = json.loads((tmp_path / "out.en.distillation.json").read_text())
    assert record["references"][0]["path"] == f"file://{folder}/dev.up"


def test_clean(folder: Path, tmp_path: Path, temporary: Path) -> None:
    for name, place in (("local", str(folder)), ("bucket", BUCKET)):
        sides = [f"{place}/train.en", f"{place}/train.up"]
        written = map(str, outputs(tmp_path, name))
        model_text = ["--language-model-text", f"{place}/dev.up"]
        assert run(["clean", *sides, *model_text, "--maximum-copied", "1", "-o", *written]) == 0
    for local, copied in zip(outputs(tmp_path, "local"), outputs(tmp_path, "bucket"), strict=True):
        assert local.read_bytes() == copied.read_bytes() != b""
    assert list(temporary.iterdir()) == []


def test_a_missing_text_is_named_by_its_address(
    folder: Path, tmp_path: Path, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = map(str, outputs(tmp_path, "out"))
    assert run(["clean", f"{BUCKET}/train.en", f"{BUCKET}/none.up", "-o", *written]) == 1
    assert capsys.readouterr().err == f"error: {BUCKET}/none.up: no such file: check the address\n"
    assert list(temporary.iterdir()) == []


def test_a_missing_package_is_named_with_its_command(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    written = map(str, outputs(tmp_path, "out"))
    assert run(["clean", "s3://bucket/a.en", "s3://bucket/a.de", "-o", *written]) == 1
    assert capsys.readouterr().err == "error: s3://bucket/a.en: Install s3fs to access S3: pip install s3fs\n"


def test_an_unusable_text_is_named_by_its_address(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = [*map(str, outputs(tmp_path, "out"))]
    (tmp_path / "bad").write_bytes(b"\xff\n")
    assert run(["clean", f"file://{tmp_path}/bad", f"file://{folder}/dev.up", "--improbable", "0", "-o", *written]) == 1
    assert capsys.readouterr().err.startswith(f"error: file://{tmp_path}/bad")
    assert run(["clean", f"{BUCKET}/train.en", "-o", *written]) == 2
    assert f"Error: {BUCKET}/train.en is plain text: give TARGET too" in capsys.readouterr().err


@pytest.mark.parametrize("after", ["", "?download=true", "#1", "?name=a/b.txt#c"])
def test_a_web_address_has_the_suffix_of_its_path(
    random_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "http", Web)
    rows = b"a house\tx\na bird\ty\n"
    address = f"http://host/rows.tsv.gz{after}"
    monkeypatch.setattr(Web, "pages", {address: gzip.compress(rows)})
    local = tmp_path / "rows.tsv"
    local.write_bytes(rows)
    translated, cleaned = [], []
    for number, given in enumerate((str(local), address)):
        output, sides = tmp_path / f"out{number}", outputs(tmp_path, f"clean{number}")
        assert run(["translate", "-m", str(random_model), "-i", given, "-o", str(output), "--no-check"]) == 0
        assert run(["clean", given, "--improbable", "0", "-o", *map(str, sides)]) == 0
        translated.append(output.read_bytes())
        cleaned.append(b"".join(side.read_bytes() for side in sides))
    assert translated[0] == translated[1] and translated[0].startswith(b"a house\tx\t")
    assert cleaned[0] == cleaned[1] != b""


def test_an_address_for_both_sides_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = map(str, outputs(tmp_path, "out"))
    assert run(["clean", f"{BUCKET}/train.en", f"{BUCKET}/train.en", "-o", *written]) == 1
    assert "is given for both sides" in capsys.readouterr().err
