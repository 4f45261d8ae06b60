"""Throughput and latency of translation, as in the efficiency task (Behnke et al. 2021, section 1.1).

Times are medians over repeated runs, with their range.
"""

import statistics
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Literal

from pocketmt.chunks import in_chunks
from pocketmt.engine.devices import LINES_AT_ONCE
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.records import Provenance, memory_bytes
from pocketmt.progress import Progress, no_progress

# Sentences translated before timing: they load the weights into memory, and the CPU raises its clock rate.
WARM_UP_SENTENCES = 16

Mode = Literal["latency", "throughput"]


@dataclass(frozen=True)
class Latency:
    """Wall times of sentences translated one at a time; percentiles by nearest rank."""

    median_milliseconds: float
    percentile_95_milliseconds: float
    percentile_99_milliseconds: float


@dataclass(frozen=True)
class Timing:
    """Wall times of repeated translations of a text."""

    mode: Mode  # "latency": sentence by sentence; "throughput": the text as a stream, batched by the engine
    sentences: int
    words: int  # of the source text, separated by white space
    seconds: tuple[float, ...]  # of each run over the text
    median_seconds: float
    fastest_seconds: float
    slowest_seconds: float
    sentences_per_second: float  # in the median run
    words_per_second: float  # in the median run
    latency: Latency | None  # None for throughput
    # Resident memory at the end minus that after a tenth of the first run: growth with the length of the text.
    memory_growth_bytes: int


@dataclass(frozen=True)
class SpeedRecord:
    """A timing of a model file on a text, as it is written to disk."""

    model: str
    model_bytes: int
    text: str
    instruction_set: str
    shortlist: bool  # whether the model file's shortlist is used, if it has one
    workers: int
    pinned: bool  # whether each worker was pinned to a separate core
    beam_size: int
    timing: Timing
    load_seconds: float
    memory_before_load_bytes: int  # resident, with the interpreter and its libraries
    peak_memory_bytes: int  # peak resident memory
    provenance: Provenance


class _MemoryWatch:
    """Measures the growth of memory since a tenth of the first run."""

    def __init__(self, sentences: int) -> None:
        self._wait_for = -(-sentences // 10)
        self._after_a_tenth = 0

    def translated(self, sentences: int) -> None:
        """Count sentences that have been translated."""
        if self._wait_for > 0:
            self._wait_for -= sentences
            if self._wait_for <= 0:
                self._after_a_tenth = memory_bytes()

    def growth(self) -> int:
        """Return the growth of resident memory in bytes."""
        return memory_bytes() - self._after_a_tenth


def lengthened(lines: Sequence[str], count: int) -> list[str]:
    """Return `count` lines, by repeating `lines`."""
    return list(islice(cycle(lines), count))


def measure_latency(
    translate: Callable[[Sequence[str]], object],
    lines: Sequence[str],
    repeats: int = 5,
    progress: Progress = no_progress,
) -> Timing:
    """Time `translate` on `lines`, one at a time, `repeats` times over.

    `progress` is called with the number of translated lines and of all, outside the timed calls.

    The first WARM_UP_SENTENCES lines are translated once before, without timing. Raises DataError if there are no lines
    and ConfigurationError if `repeats` is below 1.
    """
    _check(lines, repeats)
    for line in lines[:WARM_UP_SENTENCES]:
        translate([line])
    # Allocated before the first call, so that it does not count as growth of memory.
    runs = [array("d", bytes(8 * len(lines))) for _ in range(repeats)]
    watch = _MemoryWatch(len(lines))
    total = repeats * len(lines)
    for run, calls in enumerate(runs):
        for index, line in enumerate(lines):
            start = time.perf_counter()
            translate([line])
            calls[index] = time.perf_counter() - start
            watch.translated(1)
            progress(run * len(lines) + index + 1, total)
    return summarize("latency", lines, [sum(calls) for calls in runs], watch.growth(), _latency(runs))


def measure_throughput(
    stream: Callable[[Iterable[Sequence[str]]], Iterable[Sequence[str]]],
    lines: Sequence[str],
    repeats: int = 5,
    progress: Progress = no_progress,
) -> Timing:
    """Time `stream`, which translates chunks of lines, on all `lines`, `repeats` times over.

    Warm-up and errors are as in `measure_latency`; `progress` is called after each chunk, within the timed run.
    """
    _check(lines, repeats)
    for _ in stream([lines[:WARM_UP_SENTENCES]]):
        pass
    watch = _MemoryWatch(len(lines))
    seconds = []
    done, total = 0, repeats * len(lines)
    for _ in range(repeats):
        start = time.perf_counter()
        for translated in stream(in_chunks(lines, LINES_AT_ONCE)):
            watch.translated(len(translated))
            done += len(translated)
            progress(done, total)
        seconds.append(time.perf_counter() - start)
    return summarize("throughput", lines, seconds, watch.growth())


def summarize(
    mode: Mode, lines: Sequence[str], seconds: Sequence[float], memory_growth: int, latency: Latency | None = None
) -> Timing:
    """Return the timing of runs over `lines`, given the seconds of each."""
    median = statistics.median(seconds)
    words = sum(len(line.split()) for line in lines)
    return Timing(
        mode=mode,
        sentences=len(lines),
        words=words,
        seconds=tuple(seconds),
        median_seconds=median,
        fastest_seconds=min(seconds),
        slowest_seconds=max(seconds),
        sentences_per_second=len(lines) / median if median > 0 else float("inf"),
        words_per_second=words / median if median > 0 else float("inf"),
        latency=latency,
        memory_growth_bytes=memory_growth,
    )


def _check(lines: Sequence[str], repeats: int) -> None:
    if not lines:
        raise DataError("there is nothing to time: the text has no lines")
    if repeats < 1:
        raise ConfigurationError(f"a text is timed at least once, not {repeats} times")


def _latency(runs: Sequence[Sequence[float]]) -> Latency:
    """Return the statistics of the seconds of single calls [repeats][calls]."""
    milliseconds = sorted(1000 * call for calls in runs for call in calls)

    def percentile(percent: int) -> float:
        """Return the smallest time that at least `percent` of the calls do not exceed."""
        return milliseconds[-(-percent * len(milliseconds) // 100) - 1]

    return Latency(statistics.median(milliseconds), percentile(95), percentile(99))
