"""Chooses the fastest setting of each engine, and times all engines in turn."""

import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.peer.child_process import Child
from benchmarks.peer.models import TimedModel
from benchmarks.peer.sides import ONE_BY_ONE, Batching, Setting, Side
from pocketmt.errors import EngineError

# A setting is skipped if its first sentence takes this many times as long as with the fastest setting.
HOPELESS = 4.0
# To compare settings, a run is repeated until the runs have taken this long, at most three times; the fastest counts.
# Processor times are compared, because they depend less on other load.
ENOUGH_SECONDS = 1.5


@dataclass(frozen=True)
class Case:
    """How sentences are translated."""

    one_by_one: bool
    beam: int

    @property
    def name(self) -> str:
        """The name in tables."""
        return (
            f"{'one by one' if self.one_by_one else 'batches'}, {'greedy' if self.beam == 1 else f'beam {self.beam}'}"
        )


CASES = tuple(Case(one_by_one, beam) for one_by_one in (True, False) for beam in (1, 4))


@dataclass(frozen=True)
class Amount:
    """The amount of measurement."""

    one_by_one: int  # sentences in a run, one at a time
    batches: int  # sentences in a run, in batches
    rounds: int

    def sentences(self, case: Case, model: TimedModel) -> Sequence[Sequence[int]]:
        """Return the sentences for a run of this case."""
        return model.sentences[: self.one_by_one if case.one_by_one else self.batches]


@dataclass(frozen=True)
class Choice:
    """The setting and batching of an engine for a case."""

    setting: Setting
    batching: Batching

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.setting.name if self.batching == ONE_BY_ONE else f"{self.setting.name}, {self.batching.name}"


@dataclass(frozen=True)
class Selection:
    """The fastest choice of each case, and rows of case, choice and processor seconds for all tried."""

    best: dict[Case, Choice]
    tried: list[dict[str, Any]]


def select(side: Side, model: TimedModel, cases: Sequence[Case], amount: Amount) -> Selection:
    """Try all settings and batchings of an engine, each setting in a separate child process."""
    tried: list[dict[str, Any]] = []
    best: dict[Case, tuple[float, Choice]] = {}
    fastest_probe = float("inf")
    for setting in side.settings:
        served = [case for case in cases if setting.serves(case.beam)]
        if not served:
            continue
        with _child(side, setting) as child:
            probe = _probe(child, model)
            if probe > HOPELESS * fastest_probe:
                tried.append({"case": "one sentence: hopeless", "choice": setting.name, "processor_seconds": probe})
                continue
            fastest_probe = min(probe, fastest_probe)
            for case in served:
                child.ask("prepare", sources=amount.sentences(case, model))
                for batching in (ONE_BY_ONE,) if case.one_by_one else side.batchings:
                    choice = Choice(setting, batching)
                    seconds = _fastest_run(child, case, choice, model)
                    tried.append({"case": case.name, "choice": choice.name, "processor_seconds": seconds})
                    best[case] = min(best.get(case, (seconds, choice)), (seconds, choice), key=lambda each: each[0])
    return Selection({case: choice for case, (_, choice) in best.items()}, tried)


def _child(side: Side, setting: Setting) -> Child:
    child = Child(side.module, setting.environment, side.python)
    try:
        child.load(side.model, side.options(setting))
    except EngineError:
        child.close()
        raise
    return child


def _probe(child: Child, model: TimedModel) -> float:
    """Return the processor seconds for one sentence by greedy search, the faster of two runs."""
    child.ask("prepare", sources=model.sentences[:1])
    order = _order(Case(True, 1), ONE_BY_ONE, model)
    return min(float(child.ask("run", **order)["processor_seconds"]) for _ in range(2))


def _fastest_run(child: Child, case: Case, choice: Choice, model: TimedModel) -> float:
    times: list[float] = []
    while len(times) < 3 and sum(times) < ENOUGH_SECONDS:
        times.append(float(child.ask("run", **_order(case, choice.batching, model))["processor_seconds"]))
    return min(times)


def _order(case: Case, batching: Batching, model: TimedModel) -> dict[str, Any]:
    options = {
        "beam": case.beam,
        "shortest": model.lengths[0],
        "longest": model.lengths[1],
        "batch_size": batching.size,
        "batch_type": batching.type,
        "shortlist": model.shortlist,
    }
    return {"one_by_one": case.one_by_one, "options": options}


def compare(
    sides: Sequence[Side], choices: Sequence[Choice], model: TimedModel, case: Case, amount: Amount
) -> list[dict[str, Any]]:
    """Time the engines in turn, A B A B ..., each in a new child process; return a measurement of each.

    Only one child process computes at a time, all on the same core, so that other load affects all alike.
    """
    with ExitStack() as stack:
        children = [
            stack.enter_context(_child(side, choice.setting)) for side, choice in zip(sides, choices, strict=True)
        ]
        orders = [_order(case, choice.batching, model) for choice in choices]
        sentences = amount.sentences(case, model)
        for child, order in zip(children, orders, strict=True):
            child.ask("prepare", sources=sentences)
            child.ask("run", **order)  # warm-up of caches and memory pools
        runs: list[list[dict[str, Any]]] = [[] for _ in children]
        for _ in range(amount.rounds):
            for times, child, order in zip(runs, children, orders, strict=True):
                times.append(child.ask("run", **order))
        results = [child.ask("outputs") for child in children]
    engines = ", ".join(f"{side.name} {side.weights}" for side in sides)
    print(f"  {model.label}: {case.name} ({engines})", file=sys.stderr)
    return [
        _measurement(side, choice, child.loaded, times, result, len(sentences))
        for side, choice, child, times, result in zip(sides, choices, children, runs, results, strict=True)
    ]


def _measurement(
    side: Side,
    choice: Choice,
    loaded: dict[str, Any],
    runs: Sequence[dict[str, Any]],
    result: dict[str, Any],
    sentences: int,
) -> dict[str, Any]:
    """Return the measurement of an engine: seconds of each round, their summary, memory and translations."""
    seconds = [run["seconds"] for run in runs]
    median = statistics.median(seconds)
    latencies = sorted(1000 * each for run in runs for each in run["sentence_seconds"])
    return {
        "side": side.name,
        "weights": side.weights,
        "choice": choice.name,
        "environment": dict(choice.setting.environment),
        "batching": asdict(choice.batching),
        "engine": loaded["description"],
        "load_seconds": loaded["load_seconds"],
        "file_bytes": side.file_bytes(choice.setting),
        "sentences": sentences,
        "seconds": seconds,
        "processor_seconds": [run["processor_seconds"] for run in runs],
        "milliseconds_per_sentence": 1000 * median / sentences,
        "fastest_milliseconds": 1000 * min(seconds) / sentences,
        "slowest_milliseconds": 1000 * max(seconds) / sentences,
        # Over all sentences and rounds, if they are translated one by one.
        "percentile_50_milliseconds": percentile(latencies, 50),
        "percentile_95_milliseconds": percentile(latencies, 95),
        "sentences_per_second": sentences / median,
        "memory_before_load_bytes": loaded["memory_before_load_bytes"],
        "peak_memory_bytes": result["peak_memory_bytes"],
        "target_tokens": sum(map(len, result["outputs"])),
        "outputs": result["outputs"],
    }


def percentile(ordered: Sequence[float], share: int) -> float | None:
    """Return the smallest of ascending values that `share` % of them do not exceed; None if there are none."""
    return ordered[-(-share * len(ordered) // 100) - 1] if ordered else None
