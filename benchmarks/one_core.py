"""Measuring on one core, keeping to it and saying whether something else ran there, too; or on all of them."""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

# A run that had the core to itself has at least this share of the clock's time.
IDLE_CORE_SHARE: Final = 0.97


def add_core_option(parser: argparse.ArgumentParser) -> None:
    """Add --core N."""
    parser.add_argument("--core", type=int, help="the core on which everything is timed (default: the last one)")


def share_of_core(measured: Mapping[str, Any]) -> float:
    """Return the share of the clock's time that a median run had the core: near 1 where nothing else ran on it.

    Args:
        measured: "processor_seconds" and "seconds" of each run.
    """
    runs = zip(measured["processor_seconds"], measured["seconds"], strict=True)
    return statistics.median(float(processor / wall) for processor, wall in runs)


class OneCore:
    """A measurement on one core, from when this is made; processes that are started meanwhile inherit the core."""

    def __init__(self, core: int | None) -> None:
        """Keep this process to a core; None: the last one that it may use."""
        self.core = max(os.sched_getaffinity(0)) if core is None else core
        self._load_before = os.getloadavg()
        os.sched_setaffinity(0, {self.core})
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def about(self, core_share: float | None = None) -> dict[str, Any]:
        """Return what a record says of the core, and warn where its times are not to be published.

        Args:
            core_share: the share of the clock's time that what was measured had the core; None: this process's own.
        """
        if core_share is None:
            core_share = (time.process_time() - self._processor) / (time.perf_counter() - self._wall)
        if core_share < IDLE_CORE_SHARE:
            warning = f"something else ran on core {self.core}: these times are not to be published"
            print(f"warning: {warning}", file=sys.stderr)
        load = {"before": self._load_before, "after": os.getloadavg()}
        return {"core": self.core, "core_share": core_share, "load_average": load}


class AllCores:
    """A measurement on all cores that this process may use, from when this is made."""

    def __init__(self) -> None:
        """Note how busy the machine is."""
        self._load_before = os.getloadavg()

    def about(self, core_share: float) -> dict[str, Any]:
        """Return what a record says of the cores; `core_share`: how many of them the runs had at least."""
        load = {"before": self._load_before, "after": os.getloadavg()}
        return {"cores": len(os.sched_getaffinity(0)), "core_share": core_share, "load_average": load}
