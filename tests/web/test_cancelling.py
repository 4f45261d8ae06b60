"""Loading and translations that are cancelled, in the npm package."""

import json
import subprocess
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from tests.web.node import missing

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
