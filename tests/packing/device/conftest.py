"""The vocabulary of the engine's tests."""

from tests.engine.conftest import vocabulary

__all__ = ["vocabulary"]
