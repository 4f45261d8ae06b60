"""A model file that is replaced again and again, now and then by half a file first, and when that was."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Final

from benchmarks.serve.mixed_texts import MODELS
from benchmarks.serve.supervised import Clock
from pocketmt.engine.bundled import bundled_models

SECONDS_BETWEEN: Final = 20.0
SECONDS_OF_HALF_A_FILE: Final = 4.0
HALF_EACH: Final = 5  # replacements
SECONDS_TO_LOAD: Final = 10.0  # after which answers must be those of the new file


class ModelChanges:
    """Replaces a file by that of the other model.

    Args:
        file: to replace; it is written at once.
        clock: of the run.

    Attributes:
        halves: how often there was half a file.
    """

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._changes: list[tuple[float, int]] = []
        self._half_times: list[float] = []
        self.replace(0)

    @property
    def halves(self) -> int:
        """How often there was half a file."""
        return len(self._half_times)

    @property
    def count(self) -> int:
        """How often the file was replaced."""
        return len(self._changes) - 1

    async def repeat(self) -> None:
        """Replace the file until this is cancelled."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN)
            model = len(self._changes) % len(MODELS)
            if len(self._changes) % HALF_EACH == 0:
                source = bundled_models()[MODELS[model]]
                self._half_times.append(self._clock.now())
                self._file.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
                await asyncio.sleep(SECONDS_OF_HALF_A_FILE)
            self.replace(model)

    def replace(self, model: int) -> None:
        """Put the file of a model in the place."""
        new = self._file.with_suffix(".new")
        shutil.copyfile(bundled_models()[MODELS[model]], new)
        os.replace(new, self._file)
        self._changes.append((self._clock.now(), model))

    def possible(self, sent: float, answered: float) -> frozenset[int]:
        """Return the models that may have translated a request, from when it was sent to when it was answered."""
        since = sent - SECONDS_TO_LOAD
        before = [model for time, model in self._changes if time <= since][-1:]
        return frozenset(before + [model for time, model in self._changes if since < time <= answered])

    def was_half(self, sent: float, answered: float) -> bool:
        """Whether there was half a file in the time of a request, or shortly before."""
        return any(sent - SECONDS_TO_LOAD <= time <= answered for time in self._half_times)
