"""Translators in processes that are forked, also while they translate."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pocketmt.engine import SearchOptions, Translator
from pocketmt.errors import EngineError
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.text.test_translator import computing, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks of processes with threads need Linux")
LINES = ["the man rides a bike.", "two dogs in the house"] * 20
SOURCES = sentences(10)
# Translations that would take hours.
ENDLESS: SearchOptions = {"min_length": 10**6, "max_length": 10**6, "beam_size": 1}


def in_child(work: Callable[[], list[str]]) -> list[str]:
    """Return what a function returns in a fork of this process; it fails if that takes more than 20 seconds."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    try:
        assert select.select([reading], [], [], 20)[0], "the child does not end"
        with open(reading, "rb", closefd=False) as stream:
            found: list[str] = json.loads(stream.read())
    finally:
        os.close(reading)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return found


@pytest.fixture(params=[1, 3], ids=["1 worker", "3 workers"])
def translator(model_path: Path, request: pytest.FixtureRequest) -> Translator:
    return Translator(model_path, workers=request.param)


class Helped(NamedTuple):
    """A model of two workers whose helper translates without end, and the translations of `SOURCES`."""

    model: Any
    endless: Any  # the translation that the helper has begun
    expected: Any


@pytest.fixture
def helped(load: Loader) -> Iterator[Helped]:
    model, _ = load(workers=2)
    expected = model.translate(SOURCES, search_options())
    endless = model.submit(SOURCES, search_options(**ENDLESS), [], [])
    endless.begin()
    assert eventually(computing)
    yield Helped(model, endless, expected)
    endless.cancel()


def test_a_child_translates_while_its_parent_does(translator: Translator) -> None:
    expected = translator.translate(LINES)
    running = translator.submit(LINES, **ENDLESS)
    try:
        assert eventually(computing)
        assert in_child(lambda: translator.translate(LINES)) == expected
        assert in_child(lambda: translator.submit(LINES).result(timeout=15)) == expected
    finally:
        running.cancel()
    assert translator.translate(LINES) == expected


def test_a_child_of_an_idle_process_translates_and_ends(translator: Translator) -> None:
    expected = translator.translate(LINES)
    translator.submit(LINES[:1]).result(timeout=15)
    assert in_child(lambda: translator.submit(LINES).result(timeout=15)) == expected

    def own() -> list[str]:
        nonlocal translator
        found = translator.translate(LINES)
        del translator
        return found

    assert in_child(own) == expected


def test_a_child_of_a_child_translates(translator: Translator) -> None:
    expected = translator.translate(LINES)
    assert in_child(lambda: in_child(lambda: translator.translate(LINES))) == expected


def test_a_child_refuses_a_translation_that_a_helper_has_begun(helped: Helped) -> None:
    """The helper is not in the child, which would wait for ever."""

    def go_on() -> list[str]:
        with pytest.raises(EngineError, match="begun before the process was forked: translate its lines again"):
            helped.endless.result()
        return [str(helped.model.translate(SOURCES, search_options()))]

    assert in_child(go_on) == [str(helped.expected)]


def test_a_child_goes_on_with_a_translation_that_waits_for_a_helper(helped: Helped) -> None:
    waiting = helped.model.submit(SOURCES, search_options(), [], [])
    waiting.begin()
    assert in_child(lambda: [str(waiting.result())]) == [str(helped.expected)]
    helped.endless.cancel()
    assert waiting.result() == helped.expected


def test_a_child_has_the_translations_that_helpers_ended_before_it_was_forked(model_path: Path) -> None:
    translator = Translator(model_path, workers=2)
    chunks = translator.translate_chunks([LINES[:5], LINES, LINES[:5]])
    next(chunks)
    assert eventually(lambda: not any(computing() for _ in range(5)))
    assert in_child(lambda: next(chunks)) == next(chunks) == translator.translate(LINES)
    assert next(chunks) == translator.translate(LINES[:5])


def test_a_child_goes_on_with_lines_that_no_other_thread_has_begun(model_path: Path) -> None:
    translator = Translator(model_path, workers=1)
    chunks = translator.translate_chunks([LINES[:5], LINES, LINES[:5]])
    next(chunks)
    assert in_child(lambda: next(chunks)) == next(chunks) == translator.translate(LINES)


FORK_IN_HANDLER = """
import os, signal
from pocketmt.engine import Translator
from pocketmt.errors import EngineError

def fork(number, frame):
    global process
    process = os.fork()
    if process > 0:
        raise KeyboardInterrupt

translator = Translator({model!r}, workers=3)
lines = ["the man rides a bike."] * 500
expected = translator.translate(lines[:1])
signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    translator.translate(lines, min_length=10**6, max_length=10**6)
except KeyboardInterrupt:
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
except EngineError as error:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(20)
    same = translator.translate(lines[:1]) == expected  # this shares the matrix products among threads
    translator.translate(lines[:3])  # and this is divided among others, if all workers are idle
    divided = len(os.listdir("/proc/self/task")) == 5
    os._exit(0 if same and divided and "begun before the process was forked" in str(error) else 1)
"""


def test_a_fork_in_a_signal_handler_ends_the_translation_in_the_child(model_path: Path) -> None:
    program = FORK_IN_HANDLER.format(model=str(model_path))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "0\n"
