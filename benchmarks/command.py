"""Exit statuses of the programs of benchmarks: that of their work, or 1 after an error in one line."""

import sys
from collections.abc import Callable, Sequence

from pocketmt.errors import PocketMTError

INTERRUPTED = 130  # as shells report Ctrl-C


def run(main: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None) -> int:
    """Run a program and return its exit status.

    Args:
        main: takes the arguments and returns the exit status.
        arguments: default: those of this process.
    """
    try:
        return main(sys.argv[1:] if arguments is None else arguments)
    except PocketMTError as error:
        reason = str(error)
    except OSError as error:
        path = f"{error.filename}: " if error.filename is not None else ""
        reason = f"{path}{error.strerror or error}"
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("benchmarks", "pocketmt"):
            raise  # Nothing is missing that pip could install.
        reason = f"the package {error.name} is not installed for {sys.executable}: install it with pip"
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    print(f"error: {reason}", file=sys.stderr)
    return 1
