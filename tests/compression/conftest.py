"""Fixtures."""

from tests.short_translations import short_translations
from tests.small_network import vocabulary

__all__ = ["short_translations", "vocabulary"]
