"""The vocabulary of the engine's tests, and the memory of a GPU."""

import pytest

from pocketmt.decoding import decoder as decoder_module
from tests.engine.conftest import vocabulary

__all__ = ["like_a_gpu", "vocabulary"]


@pytest.fixture
def like_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let decoders choose shapes, and look at what is done, as on a GPU with room for about 50 sentences."""
    monkeypatch.setattr(decoder_module, "unused_bytes", lambda device: 0)
    monkeypatch.setattr(decoder_module, "free_bytes", lambda device: 4_000_000)
