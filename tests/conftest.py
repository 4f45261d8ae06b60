"""What holds for all tests."""

import signal

from hypothesis import settings

# The same examples in each run: what passed on one machine passes on the next. New ones are looked for by
# `pytest --hypothesis-profile=default`; what it finds becomes a test of its own.
settings.load_profile("ci")


def pytest_configure() -> None:
    """Heed Ctrl-C, which some tests send, even where a script started them in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
