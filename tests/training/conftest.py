"""Fixtures."""

from tests.short_translations import short_translations

__all__ = ["short_translations"]
