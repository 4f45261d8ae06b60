"""Damaged files of other toolkits are imported or refused, with a clear error and nothing written."""

from pathlib import Path

import pytest

from pocketmt.errors import InteropError
from pocketmt.interop.formats import read_foreign
from tests.interop.mutations import WRITERS, attack


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_are_imported_or_refused(name: str) -> None:
    found = attack(WRITERS[name], 100)
    assert found["refused"] > 50
    assert found.total() == 100


@pytest.mark.parametrize("name", ["bergamot", "ctranslate2"])
def test_files_that_are_cut_off_are_refused(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / "model")
    weights = tmp_path / "model" / "model.bin"
    content = weights.read_bytes()
    for size in (0, 1, 15, 16, 47, 100, 1000, len(content) // 2, len(content) - 300):
        weights.write_bytes(content[:size])
        with pytest.raises(InteropError):
            read_foreign(weights.parent)
