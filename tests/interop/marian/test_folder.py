"""The files of a Marian model are found in its folder."""

from pathlib import Path

import pytest

from pocketmt.interop.formats import read_foreign
from tests.interop.marian.test_marian import model_of, write
from tests.interop.models import same


@pytest.mark.parametrize("given", [".", "model.npz"])
def test_the_settings_that_training_wrote_are_read(tmp_path: Path, given: str) -> None:
    model = model_of()
    folder = write(model, tmp_path / "model")
    (folder / "decoder.yml").unlink()
    (folder / "vocab.spm").rename(folder / "vocab.ende.spm")
    (folder / "other.spm").write_bytes(b"damaged")
    (folder / "model.npz.decoder.yml").write_text(
        "models:\n  - /trained/model.npz\nvocabs:\n  - /data/vocab.ende.spm\n  - /data/vocab.ende.spm\nbeam-size: 6\n"
    )
    found = read_foreign(folder / given)
    assert same(model, found)
    assert any(note.startswith("beam-size is 6") for note in found.notes)


def test_files_of_the_system_are_not_read(tmp_path: Path) -> None:
    model = model_of()
    folder = write(model, tmp_path / "model")
    (folder / "decoder.yml").unlink()
    (folder / "vocab.spm").rename(folder / "ende.spm")
    for name in ("._model.npz", "._ende.spm", "._vocab.yml"):
        (folder / name).write_bytes(b"\0\5\x16\7")
    assert same(model, read_foreign(folder))


def test_scripts_beside_the_weights_are_noted(tmp_path: Path) -> None:
    folder = write(model_of(), tmp_path / "model")
    assert read_foreign(folder).notes == ()
    (folder / "preprocess.sh").write_text("exit 1")
    assert read_foreign(folder).notes == ("preprocess.sh is not run: text may need what it does",)
    (folder / "postprocess.sh").write_text("exit 1")
    assert len(read_foreign(folder).notes) == 2
