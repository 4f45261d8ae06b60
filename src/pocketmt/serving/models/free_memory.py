"""Return of freed memory to the system."""

import ctypes
import sys
from collections.abc import Callable
from typing import Final


def _find() -> Callable[[int], int] | None:
    """Return glibc's malloc_trim; None: the system's C library has none."""
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return function if callable(function) else None


_TRIM: Final = _find()


def return_freed_memory() -> None:
    """Give memory that was freed back to the system, where the C library would keep it for later.

    glibc keeps what was freed below memory that is in use. A server that replaces its models would keep the size of
    several of them.
    """
    if _TRIM is not None:
        _TRIM(0)
