"""Measurements on one pinned core or on all cores, with a check for other load."""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from pocketmt.errors import ConfigurationError

# Without other load, the processor time of a run is at least this share of its wall time.
IDLE_CORE_SHARE: Final = 0.97


def add_core_option(parser: argparse.ArgumentParser) -> None:
    """Add --core N."""
    parser.add_argument("--core", type=int, help="the core for all timing (default: the last one)")


def share_of_core(measured: Mapping[str, Any]) -> float:
    """Return the median of processor time / wall time over the runs; near 1 without other load on the core.

    Args:
        measured: "processor_seconds" and "seconds" of each run.
    """
    runs = zip(measured["processor_seconds"], measured["seconds"], strict=True)
    return statistics.median(float(processor / wall) for processor, wall in runs)


def usable_cores() -> list[int]:
    """Return the cores that this process may use; ConfigurationError where the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        raise ConfigurationError(f"{sys.platform} cannot pin a process to a core: run this measurement on Linux")
    return sorted(os.sched_getaffinity(0))


class OneCore:
    """Pins this process, and the processes that it starts, to one core."""

    def __init__(self, core: int | None) -> None:
        """Pin this process to a core; None: the last one available to it.

        Raises ConfigurationError if the process cannot use the core, or the system cannot pin processes.
        """
        cores = usable_cores()
        if core is not None and core not in cores:
            raise ConfigurationError(f"core {core} is not among those of this process: {', '.join(map(str, cores))}")
        self.core = cores[-1] if core is None else core
        self._load_before = os.getloadavg()
        os.sched_setaffinity(0, {self.core})
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def about(self, core_share: float | None = None) -> dict[str, Any]:
        """Return the entries of a record about the core; print a warning if there was other load.

        Args:
            core_share: processor time / wall time of the measurement; None: of this process.
        """
        if core_share is None:
            core_share = (time.process_time() - self._processor) / (time.perf_counter() - self._wall)
        if core_share < IDLE_CORE_SHARE:
            warning = f"other programs ran on core {self.core}: do not publish these times"
            print(f"warning: {warning}", file=sys.stderr)
        load = {"before": self._load_before, "after": os.getloadavg()}
        return {"core": self.core, "core_share": core_share, "load_average": load}


class AllCores:
    """A measurement on all cores available to this process."""

    def __init__(self) -> None:
        """Record the load average of the machine."""
        self._load_before = os.getloadavg()

    def about(self, core_share: float) -> dict[str, Any]:
        """Return the entries of a record about the cores; `core_share`: least processor / wall time of the runs."""
        load = {"before": self._load_before, "after": os.getloadavg()}
        return {"cores": len(usable_cores()), "core_share": core_share, "load_average": load}
