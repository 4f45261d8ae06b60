"""Translations in the background: futures and coroutines, and their cancellation while queued and while running."""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import SearchOptions, TranslationFuture, Translator
from pocketmt.engine.line_parts import DividedLine, LineDivider
from pocketmt.errors import EngineError
from tests.engine.text.test_translator import computing, eventually

LINES = ["the man rides a bike.", "", "two dogs in the house"]
# Translations that would take hours.
ENDLESS: SearchOptions = {"min_length": 10**6, "max_length": 10**6, "beam_size": 1}
Endless = Callable[[], TranslationFuture[list[str]]]


@pytest.fixture(params=[1, 2], ids=["1 worker", "2 workers"])
def translator(model_path: Path, request: pytest.FixtureRequest) -> Translator:
    return Translator(model_path, workers=request.param)


@pytest.fixture
def endless(translator: Translator) -> Iterator[Endless]:
    """Start a translation that would take hours; it is cancelled at the end of the test, also of one that failed."""
    started = []

    def start() -> TranslationFuture[list[str]]:
        started.append(translator.submit(LINES, **ENDLESS))
        return started[-1]

    yield start
    for future in started:
        future.cancel()


def test_results_are_those_of_translate(translator: Translator) -> None:
    futures = [translator.submit(LINES, beam_size=beam_size) for beam_size in (1, 2, 3)]
    assert [future.result(timeout=60) for future in futures] == [
        translator.translate(LINES, beam_size=beam_size) for beam_size in (1, 2, 3)
    ]
    detailed = translator.submit_detailed(LINES, n_best=2)
    assert detailed.result(timeout=60) == translator.translate_detailed(LINES, n_best=2)
    assert detailed.done()
    assert not detailed.cancel()


def test_arguments_are_checked_at_once(translator: Translator) -> None:
    with pytest.raises(TypeError, match="lines"):
        translator.submit("text")
    with pytest.raises(EngineError, match="beam_size"):
        translator.submit(LINES, beam_size=0)


def test_running_work_is_cancelled(translator: Translator, endless: Endless) -> None:
    running = endless()
    start = time.process_time()
    assert eventually(lambda: time.process_time() > start + 0.05)
    assert running.cancel()
    assert running.cancelled()
    with pytest.raises(concurrent.futures.CancelledError):
        running.result()
    assert eventually(lambda: not computing())
    assert running.cancel()  # once more is no error
    assert translator.submit(LINES).result(timeout=60) == translator.translate(LINES)


def test_queued_work_is_cancelled(translator: Translator, endless: Endless) -> None:
    running = [endless() for _ in range(translator.workers)]
    queued = [translator.submit(LINES) for _ in range(5)]
    assert queued[1].cancel()
    done, waiting = concurrent.futures.wait([queued[1], queued[2]], timeout=0.1)
    assert (done, waiting) == ({queued[1]}, {queued[2]})
    for future in running:
        future.cancel()
    expected = translator.translate(LINES)
    assert [queued[index].result(timeout=60) for index in (0, 2, 3, 4)] == [expected] * 4


def test_callbacks_are_called_once(translator: Translator, endless: Endless) -> None:
    called: list[TranslationFuture[list[str]]] = []
    futures = [endless(), endless(), translator.submit(LINES)]
    for future in futures:
        future.add_done_callback(called.append)  # type: ignore[arg-type]
    futures[0].cancel()
    futures[1].cancel()
    futures[2].result(timeout=60)
    assert eventually(lambda: len(called) == 3)
    assert called == futures


def test_a_callback_may_cancel_its_future_and_others() -> None:
    ended: list[int] = []
    futures = [TranslationFuture[None](partial(ended.append, number)) for number in range(3)]
    for future in futures:
        future.add_done_callback(lambda _: [each.cancel() for each in futures])
    canceller = threading.Thread(target=futures[0].cancel, daemon=True)
    canceller.start()
    canceller.join(timeout=20)
    assert not canceller.is_alive()
    assert all(future.cancelled() for future in futures)
    assert sorted(ended) == [0, 1, 2]
    assert concurrent.futures.wait(futures, timeout=0).not_done == set()


def test_cancelling_at_any_moment(translator: Translator) -> None:
    expected = translator.translate(LINES * 20)
    for attempt in range(40):
        future = translator.submit(LINES * 20)
        time.sleep(attempt * 0.0005)
        if future.cancel():
            assert future.cancelled()
        else:
            assert future.result(timeout=60) == expected
    assert translator.translate(LINES * 20) == expected


def test_many_threads_submit_and_cancel(translator: Translator, endless: Endless) -> None:
    expected = translator.translate(LINES)
    wrong: list[object] = []

    def work(number: int) -> None:
        for turn in range(10):
            running = endless()
            finite = translator.submit(LINES)
            if not running.cancel() or ((turn + number) % 2 == 0 and finite.result(timeout=60) != expected):
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_coroutines(translator: Translator) -> None:
    async def both() -> tuple[list[str], list[str], object]:
        texts, others, details = await asyncio.gather(
            translator.translate_async(LINES),
            translator.translate_async(LINES[::-1], beam_size=2),
            translator.translate_detailed_async(LINES, n_best=2),
        )
        return texts, others, details

    texts, others, details = asyncio.run(both())
    assert texts == translator.translate(LINES)
    assert others == translator.translate(LINES[::-1], beam_size=2)
    assert details == translator.translate_detailed(LINES, n_best=2)


def test_coroutines_raise_errors_of_arguments(translator: Translator) -> None:
    with pytest.raises(TypeError, match="lines"):
        asyncio.run(translator.translate_async("text"))
    with pytest.raises(EngineError, match="beam_size"):
        asyncio.run(translator.translate_detailed_async(LINES, beam_size=0))


def test_lines_of_coroutines_are_prepared_in_another_thread(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that is cancelled meanwhile cancels the translation."""
    begun, cancelled = threading.Event(), threading.Event()
    futures: list[TranslationFuture[list[str]]] = []
    divide, submit = LineDivider.divide, Translator.submit

    def divide_slowly(*arguments: Any, **options: Any) -> DividedLine:
        begun.set()
        assert threading.current_thread() is not threading.main_thread()
        assert cancelled.wait(timeout=20)
        return divide(*arguments, **options)

    def submit_and_keep(*arguments: Any, **options: Any) -> TranslationFuture[list[str]]:
        futures.append(submit(*arguments, **options))
        return futures[-1]

    async def run() -> None:
        task = asyncio.create_task(translator.translate_async(LINES, min_length=10**4, max_length=10**4, beam_size=1))
        while not begun.is_set():
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    monkeypatch.setattr(LineDivider, "divide", divide_slowly)
    monkeypatch.setattr(Translator, "submit", submit_and_keep)
    asyncio.run(run())
    assert eventually(lambda: [future.cancelled() for future in futures] == [True])


def test_a_cancelled_task_ends_the_work_and_leaves_the_loop_free(translator: Translator) -> None:
    async def run() -> int:
        task = asyncio.create_task(translator.translate_async(LINES, **ENDLESS))
        ticks = 0
        while not computing_soon() or ticks < 20:
            await asyncio.sleep(0.005)  # the event loop goes on
            ticks += 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(translator.translate_async(LINES, **ENDLESS), timeout=0.2)
        return ticks

    def computing_soon() -> bool:
        return time.process_time() > start + 0.2

    start = time.process_time()
    assert asyncio.run(run()) >= 20
    assert eventually(lambda: not computing())


def test_the_translator_may_go_before_its_results(model_path: Path) -> None:
    translator = Translator(model_path)
    expected = translator.translate(LINES)
    future = translator.submit(LINES * 50)
    del translator
    assert future.result(timeout=60) == expected * 50
