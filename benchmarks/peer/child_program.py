"""The program of a child process: it runs an engine on orders in JSON lines, and answers with times."""

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

from pocketmt.evaluation.records import memory_bytes, peak_memory_bytes


class Engine(Protocol):
    """An engine; `sources` of `translate` are the results of `prepare`."""

    def load(self, model: str, options: dict[str, Any]) -> dict[str, Any]:
        """Load the model; return a description for the record."""

    def prepare(self, sources: Sequence[Sequence[int]]) -> list[Any]:
        """Return sentences in the input form of the engine; not timed."""

    def translate(self, sources: Sequence[Any], options: dict[str, Any]) -> list[Any]:
        """Return the best translation of each source."""

    def token_ids(self, outputs: Sequence[Any]) -> list[list[int]]:
        """Return translations as ids without EOS; not timed."""


class Program:
    """Answers the orders load, prepare, run and outputs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sources: list[Any] = []
        self._outputs: list[Any] = []

    def load(self, order: dict[str, Any]) -> dict[str, Any]:
        """Load a model; answer with the memory before it and the description by the engine."""
        before = memory_bytes()
        started = time.perf_counter()
        description = self._engine.load(order["model"], order["options"])
        seconds = time.perf_counter() - started
        return {"memory_before_load_bytes": before, "load_seconds": seconds, "description": description}

    def prepare(self, order: dict[str, Any]) -> dict[str, Any]:
        """Set the sentences of the following runs."""
        self._sources = self._engine.prepare(order["sources"])
        return {}

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """Translate all sentences once, one by one or in batches; answer with wall and processor seconds.

        If they are translated one by one, the answer also has the wall seconds of each sentence.
        """
        sources, options, translate = self._sources, order["options"], self._engine.translate
        gc.collect()
        gc.disable()
        processor, wall = time.process_time(), time.perf_counter()
        ends = [wall]
        if order["one_by_one"]:
            outputs = []
            for source in sources:
                outputs.append(translate([source], options)[0])
                ends.append(time.perf_counter())
        else:
            outputs = translate(sources, options)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        gc.enable()
        self._outputs = outputs
        sentences = [end - start for start, end in pairwise(ends)]
        return {"seconds": wall, "processor_seconds": processor, "sentence_seconds": sentences}

    def outputs(self, order: dict[str, Any]) -> dict[str, Any]:
        """Answer with the translations of the last run and the peak memory of this process."""
        return {"outputs": self._engine.token_ids(self._outputs), "peak_memory_bytes": peak_memory_bytes()}


def serve(engine: Engine) -> None:
    """Answer orders, one JSON object a line, until the end of stdin."""
    # Output of libraries to stdout is redirected to stderr, because stdout has the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    program = Program(engine)
    orders = {"load": program.load, "prepare": program.prepare, "run": program.run, "outputs": program.outputs}
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(orders[order["order"]](order)), file=answers, flush=True)
