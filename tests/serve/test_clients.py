"""Rates of requests."""

from types import SimpleNamespace

import pytest

from pocketmt.serving import clients
from pocketmt.serving.errors import RequestError
from pocketmt.serving.settings import ServerSettings


@pytest.mark.parametrize("rate", [3, 7, 25, 45, 100])
def test_a_client_that_waits_as_long_as_it_is_told_is_answered(monkeypatch: pytest.MonkeyPatch, rate: int) -> None:
    now = 1_000.0
    monkeypatch.setattr(clients, "time", SimpleNamespace(monotonic=lambda: now))
    known = clients.Clients(ServerSettings(requests_per_minute=rate))
    for _ in range(rate):
        known.identify("192.0.2.1", None)
    for _ in range(20):
        with pytest.raises(RequestError) as refused:
            while True:
                known.identify("192.0.2.1", None)
        assert refused.value.status == 429 and refused.value.retry_after is not None
        now += refused.value.retry_after
        known.identify("192.0.2.1", None)
