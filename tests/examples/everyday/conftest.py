"""The vocabulary of small networks, as a fixture."""

from tests.small_network import vocabulary

__all__ = ["vocabulary"]
