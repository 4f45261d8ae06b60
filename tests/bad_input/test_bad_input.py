"""Bad input of all kinds: each try is refused with a message that names what is wrong, and leaves nothing half-made."""

import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pocketmt.cli.main import run
from pocketmt.distillation.configuration import read_pipeline
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import score
from pocketmt.model_file import open_model
from pocketmt.packing.run import pack_run
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.recipes.schema import read_recipe
from pocketmt.text.corpus import read_pairs
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.training.configuration import read_configuration
from pocketmt.training.trained_model import read_trained_model

from . import compression_cases, option_cases, training_cases, translation_cases
from .case import REMEDIES, Case, listing
from .python_cases import SNIPPETS, Snippet
from .world import write_world

CASES = [*training_cases.CASES, *compression_cases.CASES, *translation_cases.CASES, *option_cases.CASES]
LIMIT = 40  # Seconds after which a try has not ended.
NAMES: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(Path, Translator, Vocabulary, find_recipe, open_model, pack_run, read_configuration, read_pairs),
        *(read_pipeline, read_recipe, read_trained_model, score),
    )
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    return folder


@pytest.fixture(scope="module")
def translator(world: Path) -> Translator:
    return Translator(world / "model.pocketmt")


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """End a try that hangs."""

    def end(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"not refused within {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_there_are_as_many_tries_as_a_reviewer_made() -> None:
    assert len({case.command + str(case.files) for case in CASES}) == len(CASES)
    assert len(CASES) + len(SNIPPETS) >= 212


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command}: {', '.join(case.names)}")
def test_a_command_is_refused(
    world: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, case: Case
) -> None:
    monkeypatch.chdir(world)
    for name, content in case.files.items():
        (world / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "stdin").write_bytes(case.stdin)
    before = listing(world)
    try:
        with (tmp_path / "stdin").open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            status = run(case.arguments)
    finally:
        after = listing(world)
        for name in after.keys() - before.keys():  # Not for the next try.
            shutil.rmtree(world / name) if (world / name).is_dir() else (world / name).unlink(missing_ok=True)
    out, message = capfd.readouterr()
    assert status == case.status, message
    assert "Traceback" not in message
    assert out == ""
    # Progress and warnings may come before the message.
    before_it, mark, error = message.rpartition("Error: " if case.status == 2 else "error: ")
    assert mark and (case.status == 2 or not before_it or before_it[-1] in "\n\r"), message
    for name in case.names:
        assert name in error, message
    assert REMEDIES.search(error), message
    assert after == before


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.code)
def test_a_call_is_refused(
    world: Path, monkeypatch: pytest.MonkeyPatch, translator: Translator, snippet: Snippet
) -> None:
    monkeypatch.chdir(world)
    before = listing(world)
    with pytest.raises(snippet.error) as raised:
        eval(snippet.code, {**NAMES, "translator": translator})
    for name in snippet.names:
        assert name in str(raised.value)
    assert listing(world) == before
    # The translator still works.
    assert len(translator.translate(["red cat"], beam_size=1)) == 1
