"""How fast a text is translated: medians over repeated runs, with their spread. Needs the standard library alone."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.records import Provenance

# Sentences translated before the clock starts: they fetch the weights into memory and let the processor's clock rise.
WARM_UP_SENTENCES = 16


@dataclass(frozen=True)
class Timing:
    """The clock times of one text, translated several times over."""

    sentences: int
    batch_size: int  # sentences handed over at once; 1: each alone
    seconds: tuple[float, ...]  # of each run over the whole text
    median_seconds: float
    fastest_seconds: float
    slowest_seconds: float
    sentences_per_second: float  # by the median run
    # Of the single calls of all runs (a call is a sentence where batch_size is 1, else a batch):
    median_call_milliseconds: float
    percentile_95_call_milliseconds: float


@dataclass(frozen=True)
class SpeedRecord:
    """One measurement of one model file on one text, as it is written to disk."""

    model: str
    model_bytes: int
    text: str
    instruction_set: str
    shortlist: bool  # whether the model file's is used, where it has one
    workers: int
    beam_size: int
    timing: Timing
    load_seconds: float
    memory_before_load_bytes: int  # resident, the interpreter and its libraries included
    peak_memory_bytes: int  # resident, at the highest
    provenance: Provenance


def measure(
    translate: Callable[[Sequence[str]], object], lines: Sequence[str], batch_size: int = 1, repeats: int = 5
) -> Timing:
    """Time `translate` on `lines`, handed over `batch_size` at a time, `repeats` times over.

    The first sentences are translated once before, unmeasured (WARM_UP_SENTENCES). DataError where there are no lines,
    ConfigurationError where a number is below 1.
    """
    if not lines:
        raise DataError("there is nothing to time: the text has no lines")
    if batch_size < 1 or repeats < 1:
        raise ConfigurationError(f"batch size and repeats are at least 1, not {batch_size} and {repeats}")
    batches = [lines[start : start + batch_size] for start in range(0, len(lines), batch_size)]
    for batch in batches[: max(1, WARM_UP_SENTENCES // batch_size)]:
        translate(batch)
    runs: list[list[float]] = []
    for _ in range(repeats):
        calls = []
        for batch in batches:
            start = time.perf_counter()
            translate(batch)
            calls.append(time.perf_counter() - start)
        runs.append(calls)
    return summarize(runs, len(lines), batch_size)


def summarize(runs: Sequence[Sequence[float]], sentences: int, batch_size: int) -> Timing:
    """Return the timing of runs given as the seconds of their calls, shape [repeats][calls]."""
    totals = tuple(sum(calls) for calls in runs)
    milliseconds = sorted(1000 * call for calls in runs for call in calls)
    median = statistics.median(totals)
    return Timing(
        sentences=sentences,
        batch_size=batch_size,
        seconds=totals,
        median_seconds=median,
        fastest_seconds=min(totals),
        slowest_seconds=max(totals),
        sentences_per_second=sentences / median if median > 0 else float("inf"),
        median_call_milliseconds=statistics.median(milliseconds),
        # The smallest time that at least 95 % of the calls do not exceed (nearest rank).
        percentile_95_call_milliseconds=milliseconds[-(-95 * len(milliseconds) // 100) - 1],
    )
