"""The end of a process while daemon threads translate."""

import threading
import time
from typing import Final

from pocketmt.engine import _native

# Then a thread that is between two calls of the engine has begun the next one.
SECONDS_UNTIL_IN_ENGINE: Final = 0.05


def hold_daemon_threads() -> None:
    """Keep daemon threads that translate from coming back to Python; called when the process ends.

    Python would unwind their stacks, which have frames of C++, and that would abort the process.
    """
    if any(thread.daemon for thread in threading.enumerate()):
        _native.keep_threads_from_python()
        time.sleep(SECONDS_UNTIL_IN_ENGINE)
