"""Processes that end while daemon threads translate."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import atexit, threading, time

def translate():  # Registered before the engine is imported, so it runs after what the engine does at the end.
    assert translator.translate(["the man"])

atexit.register(translate)
from pocketmt.engine import Translator

translator = Translator({model!r}, workers={workers})

def work():
    while True:
        {work}

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seconds", [0.2, 0.3])
@pytest.mark.parametrize(
    "work",
    [
        'translator.translate(["the man rides a bike."] * 200, max_length=100, min_length=90)',
        "translator.translate_ids([[5, 6, 7]])",
    ],
)
def test_a_process_ends_while_daemon_threads_translate(
    model_path: Path, work: str, seconds: float, workers: int
) -> None:
    program = PROGRAM.format(model=str(model_path), work=work, seconds=seconds, workers=workers)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
