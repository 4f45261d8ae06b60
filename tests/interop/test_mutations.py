"""Damaged files of other toolkits are read or refused, with a clear error and nothing written."""

from pathlib import Path

import pytest

from pocketmt.errors import InteropError
from pocketmt.interop.formats import read_foreign
from tests.interop.mutations import FORMATS, try_mutations


@pytest.mark.parametrize("name", FORMATS)
def test_mutations_are_read_or_refused(name: str, tmp_path: Path) -> None:
    sizes = FORMATS[name](tmp_path)
    assert try_mutations(tmp_path, range(150), sizes) > 75


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_cut_off_are_refused(name: str, tmp_path: Path) -> None:
    FORMATS[name](tmp_path)
    content = (tmp_path / "model.bin").read_bytes()
    for size in (0, 1, 15, 16, 47, 100, 1000, len(content) // 2, len(content) - 300):
        (tmp_path / "model.bin").write_bytes(content[:size])
        with pytest.raises(InteropError):
            read_foreign(tmp_path)
