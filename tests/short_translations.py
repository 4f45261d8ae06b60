"""A fixture that keeps validation of untrained networks quick: they never end a translation before the length limit."""

import pytest

import pocketmt.decoding.requests as requests

LIMIT = 6  # pieces


@pytest.fixture(autouse=True)
def short_translations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "default_maximum_length", lambda source_length: LIMIT)
