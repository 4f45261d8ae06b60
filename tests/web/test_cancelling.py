"""Loading and translations that are cancelled, in the npm package."""

import json
import subprocess
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from tests.web.node import missing, run_jobs

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
MODEL = resolve_model("everyday-en-de")


def test_calls_fail_as_soon_as_they_are_cancelled() -> None:
    program = Path(__file__).with_name("cancelled.mjs")
    done = subprocess.run(["node", program, MODEL], capture_output=True, text=True, check=True, timeout=120)
    found = json.loads(done.stdout)
    assert found["loadedAfter"] == found["loading"] == ["CancelledError", "the loading was cancelled"]
    assert found["after"] == found["queued"] == found["running"] == ["CancelledError", "the translation was cancelled"]
    assert found["whileRunning"]
    assert [found["next"]] == Translator(MODEL).translate(["Two dogs."])
    assert found["timeWithoutWaiting"]
    assert (found["isWaiting"], found["hasEnded"]) == (1, 0)


def test_lines_of_one_call_are_divided_until_it_is_cancelled() -> None:
    lines = ["..."] * 1000  # which need no batch
    job = {"kind": "cancelled", "path": str(MODEL), "lines": lines}
    stopped, done = run_jobs([job | {"calls": 2}, job | {"calls": 100}])
    assert stopped == {"error": "Error", "message": "cancelled"}
    assert done == {"result": lines}
