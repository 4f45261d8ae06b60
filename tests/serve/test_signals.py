"""Signals that end a server, and those that its caller has told it to ignore."""

import signal
import time

import pytest

from .conftest import running_server


@pytest.mark.parametrize(("ignored", "ending", "status"), [("INT", signal.SIGTERM, 143), ("TERM", signal.SIGINT, 130)])
def test_a_server_goes_on_after_a_signal_that_it_is_told_to_ignore(
    ignored: str, ending: signal.Signals, status: int
) -> None:
    """Shells let a command that a script starts with & ignore SIGINT."""
    with running_server(launcher=["sh", "-c", f'trap "" {ignored}; exec "$@"', "sh"]) as server:
        server.process.send_signal(signal.Signals[f"SIG{ignored}"])
        time.sleep(0.5)  # A server that ends looks for signals every 0.1 seconds.
        assert server.get("/health").status == 200
        server.process.send_signal(ending)
        assert server.process.wait(30) == status
