"""Fixtures."""

from tests.small_network import vocabulary

__all__ = ["vocabulary"]
