"""Damaged files are imported or refused (`python -m tests.interop.checkpoint_mutations` damages 10,000)."""

import pytest

from tests.interop.checkpoint_mutations import WRITERS, attack


@pytest.mark.parametrize("kind", WRITERS)
def test_damaged_files_are_imported_or_refused(kind: str) -> None:
    found = attack(WRITERS[kind], 60)
    assert found["refused"] > 10
    assert found.total() == 60
