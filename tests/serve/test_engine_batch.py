"""Batches that the engine translates."""

import asyncio
import threading
from typing import Any, cast

import pytest

from pocketmt.engine import TranslationFuture, Translator
from pocketmt.serving.translation.engine_batch import EngineBatches, Kind


class SlowTranslator:
    """Takes a translation only when it may, and never ends it."""

    unit = "word"

    def __init__(self) -> None:
        self.begun, self.may_go_on, self.ended = threading.Event(), threading.Event(), threading.Event()

    def submit(self, sentences: list[str], **_: object) -> TranslationFuture[Any]:
        self.begun.set()
        self.may_go_on.wait(60)
        return TranslationFuture(self.ended.set)

    submit_detailed = submit


@pytest.mark.parametrize("n_best", [1, 2])
def test_a_batch_that_is_cancelled_while_it_is_submitted_ends(n_best: int) -> None:
    translator = SlowTranslator()

    async def cancel() -> None:
        kind = Kind(cast("Translator", translator), "en", "de", n_best)
        task = asyncio.ensure_future(EngineBatches(1, 1).translate(kind, ["x" * 10_000], True))
        await asyncio.to_thread(translator.begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        translator.may_go_on.set()

    asyncio.run(cancel())
    assert translator.ended.wait(10)
