"""Detection of languages, and names of languages."""

import asyncio
import subprocess
import sys
import time
from functools import cache

import pytest

from pocketmt.engine.bundled import resolve_model
from pocketmt.serving import service
from pocketmt.serving.detection import LanguageDetector
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.settings import ServerSettings
from pocketmt.text.languages import language_name


@cache
def detector(*languages: str) -> LanguageDetector:
    return LanguageDetector(languages)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ein Mann fährt mit dem Fahrrad.", "de"),
        ("Two dogs play in the snow.", "en"),
        ("Un homme fait du vélo dans la rue.", "fr"),
        ("他在街上骑自行车。", "zh-Hans"),
    ],
)
def test_the_language_of_a_sentence_is_found(text: str, language: str) -> None:
    found = detector("de", "en", "fr", "zh-Hans", "xx").detect(text)
    assert found[0].language == language
    assert sum(each.confidence for each in found) <= 101


def test_only_the_languages_of_models_are_found() -> None:
    assert {each.language for each in detector("de", "fr").detect("Two dogs play in the snow.")} <= {"de", "fr"}
    assert detector("xx").detect("Two dogs")[0].confidence == 0


@pytest.mark.parametrize("text", ["", " ", "123", "!?", "😀"])
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert [each.confidence for each in detector("de", "en", "fr", "zh-Hans", "xx").detect(text)] == [0]


@pytest.mark.parametrize(
    ("code", "name"),
    [("de", "German"), ("pt-BR", "Portuguese (BR)"), ("zh_Hans", "Chinese (Hans)"), ("xx", "xx"), ("", "")],
)
def test_languages_have_names(code: str, name: str) -> None:
    assert language_name(code) == name


def test_many_requests_make_one_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def make(languages: tuple[str, ...]) -> LanguageDetector:
        made.append(languages)
        time.sleep(0.05)
        if len(made) == 1:
            raise OSError("no space left on device")
        return detector(*languages)

    monkeypatch.setattr(service, "LanguageDetector", make)

    async def work() -> None:
        catalogue = Catalogue([resolve_model("captions-en-de")], print)
        serving = service.TranslationService(catalogue, ServerSettings(), Metrics(), print)
        failed = await asyncio.gather(*(serving.detect("Two dogs") for _ in range(20)), return_exceptions=True)
        assert {type(each) for each in failed} == {OSError} and len(made) == 1
        left = asyncio.create_task(serving.detect("Two dogs"))
        await asyncio.sleep(0.01)
        left.cancel()
        found = await asyncio.gather(*(serving.detect("Two dogs") for _ in range(20)))
        assert {each[0].language for each in found} == {"en"} and len(made) == 2

    asyncio.run(work())


def test_the_detector_needs_little_memory_also_while_it_is_made() -> None:
    program = """
import resource
import numpy
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
from pocketmt.serving.detection import LanguageDetector
LanguageDetector(("de", "en")).detect("Two dogs play in the snow.")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 60_000  # kilobytes; py3langid's own loading takes 105,000
