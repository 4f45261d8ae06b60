"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Heed Ctrl-C, which some tests send, even where a script started them in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
