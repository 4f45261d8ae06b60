"""Programs in Node that forget to close a translator of the npm package: they end, after all translations."""

import subprocess
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from tests.web.node import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
MODEL = resolve_model("everyday-en-de")
MAN, DOGS = "A man rides a bike.", "Two dogs."


@pytest.mark.parametrize(
    ("case", "lines"),
    [("awaited", [DOGS]), ("pending", [MAN, DOGS]), ("idle", [MAN, DOGS]), ("several", [MAN, DOGS])],
)
def test_programs_end_after_their_translations(case: str, lines: list[str]) -> None:
    assert printed(case) == Translator(MODEL).translate(lines)


@pytest.mark.parametrize(
    ("case", "error"), [("cancelled", "CancelledError"), ("refused", "EngineError"), ("absent", "DownloadError")]
)
def test_programs_end_after_an_error(case: str, error: str) -> None:
    assert printed(case) == [error]


def printed(case: str) -> list[str]:
    """Return the lines that a program has printed when it ends."""
    command = ["node", str(Path(__file__).with_name("unclosed.mjs")), case, str(MODEL)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
