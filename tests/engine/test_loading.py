"""Loading of large files, whose digest is checked while their weights are packed."""

from pathlib import Path

import pytest

from pocketmt.engine import Translator, loading
from pocketmt.errors import EngineError, ModelFileError
from pocketmt.model_file import open_model


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "CHECKED_WHILE_PACKING", 1)


def test_an_undamaged_file_loads(shared_model: Path) -> None:
    assert Translator(shared_model).translate_ids([[5, 6]], beam_size=1)


# A code that is changed to another one is packed without an error; -128 makes packing fail as well.
@pytest.mark.parametrize("code", [1, 128])
def test_damaged_codes_are_reported_as_damage(model_path: Path, code: int) -> None:
    with open_model(model_path) as file:
        entry = next(entry for name, entry in file.tensors.items() if name.endswith(".codes"))
    damaged = bytearray(model_path.read_bytes())
    damaged[entry.offset] = code if damaged[entry.offset] != code else 2
    model_path.write_bytes(damaged)
    with pytest.raises(ModelFileError, match=r"random.pocketmt: the digest does not match.*[Cc]opy or download"):
        Translator(model_path)


def test_other_errors_of_loading_are_unchanged(shared_model: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="is unknown or this CPU lacks it"):
        Translator(shared_model, instruction_set="none")
    with pytest.raises(ModelFileError, match="no such file"):
        Translator(tmp_path / "missing.pocketmt")
