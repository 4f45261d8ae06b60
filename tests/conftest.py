"""Configuration of all tests."""

import signal

from hypothesis import settings

# This profile draws the same examples in each run, so that tests pass on all machines or on none. To search for new
# examples, run `pytest --hypothesis-profile=default`; add a test for each failure that it finds.
settings.load_profile("ci")


def pytest_configure() -> None:
    """Restore the handler of Ctrl-C, which some tests send: scripts disable it for background processes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
