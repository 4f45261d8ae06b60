"""The C library's memory allocator: where it keeps memory that was freed."""

import ctypes
import sys
from typing import Final

_MOST_ARENAS: Final = -8  # glibc's name of the option: M_ARENA_MAX


def _library() -> ctypes.CDLL | None:
    """Return the C library, if it is glibc."""
    library = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
    return library if library is not None and hasattr(library, "malloc_trim") else None


_GLIBC: Final = _library()


def limit_arenas(count: int) -> None:
    """Have at most `count` areas of memory for all threads; does nothing without glibc.

    glibc gives each thread another area, up to eight times the number of cores, and each keeps what its threads
    needed most.
    """
    if _GLIBC is not None:
        _GLIBC.mallopt(_MOST_ARENAS, count)


def return_freed_memory() -> None:
    """Give memory that was freed back to the system; does nothing without glibc.

    glibc keeps what was freed below memory that is in use. A server that replaces its models would keep the size of
    several of them.
    """
    if _GLIBC is not None:
        _GLIBC.malloc_trim(0)
