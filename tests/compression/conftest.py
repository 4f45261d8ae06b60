"""Fixtures."""

import pytest

from tests.compression.tiny_run import Uninterrupted
from tests.forks import quick_processes
from tests.short_translations import short_translations
from tests.small_network import vocabulary

__all__ = ["quick_processes", "short_translations", "vocabulary"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    """Compressions of the model of a module that were never stopped."""
    return Uninterrupted(tmp_path_factory.mktemp("whole"))
