"""Fixtures."""

from tests.forks import quick_processes
from tests.short_translations import short_translations
from tests.small_network import vocabulary

__all__ = ["quick_processes", "short_translations", "vocabulary"]
