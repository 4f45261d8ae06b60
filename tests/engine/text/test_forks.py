"""Translators in processes that are forked, also while they translate."""

import json
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pocketmt.engine import SearchOptions, Translator
from tests.engine.text.test_translator import computing, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks of processes with threads need Linux")
LINES = ["the man rides a bike.", "two dogs in the house"] * 20
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
