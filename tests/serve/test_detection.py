"""Detection of languages, and names of languages."""

import asyncio
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from pocketmt.engine.bundled import resolve_model
from pocketmt.markup.segments import Segment
from pocketmt.serving import service
from pocketmt.serving.detection import Detected, LanguageDetector, detect_sources
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue, Routes, make_routes
from pocketmt.serving.models.description import ModelDescription
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


def test_invisible_characters_change_no_language() -> None:
    found = detector("de", "en", "fr").detect("\ufeffEin Mann fährt mit dem Fahr\u00adrad\u200e.")
    assert found == detector("de", "en", "fr").detect("Ein Mann fährt mit dem Fahrrad.")


def test_languages_are_found_for_codes_of_three_letters() -> None:
    [found, *_] = detector("deu_Latn", "eng_Latn", "zho_Hans").detect("Ein Mann fährt mit dem Fahrrad.")
    assert found.language == "deu_Latn" and found.confidence > 50


def test_only_the_languages_of_models_are_found() -> None:
    assert {each.language for each in detector("de", "fr").detect("Two dogs play in the snow.")} <= {"de", "fr"}
    assert detector("xx").detect("Two dogs")[0].confidence == 0


@pytest.mark.parametrize("text", ["", " ", "123", "!?", "😀"])
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert [each.confidence for each in detector("de", "en", "fr", "zh-Hans", "xx").detect(text)] == [0]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("de", "German"),
        ("deu_Latn", "German"),
        ("pt-BR", "Portuguese (BR)"),
        ("zh_Hans", "Chinese (Hans)"),
        ("arb_Latn", "Arabic (Latn)"),
        ("ace_Arab", "ace_Arab"),
        ("xx", "xx"),
        ("", ""),
    ],
)
def test_languages_have_names(code: str, name: str) -> None:
    assert language_name(code) == name


def routes(*languages: str) -> Routes:
    """Routes between all of some languages."""
    return make_routes([ModelDescription(Path("all"), (0, 0, 0), languages, languages, 1)])


@pytest.mark.parametrize("text", ["Water", "Hand", "Name", "Winter"])
def test_a_word_of_both_languages_is_to_be_translated(text: str) -> None:
    for source, target in (("en", "de"), ("de", "en")):
        [found] = detect_sources(detector("de", "en"), routes("de", "en"), [text], target)
        assert found.language == source


@pytest.mark.parametrize(
    "text", ["Zwei Hunde.", "Speichern", "Wasser", "Ein Mann fährt in der Stadt mit dem Fahrrad zur Arbeit."]
)
def test_a_text_in_the_target_language_is_found(text: str) -> None:
    assert detect_sources(detector("de", "en"), routes("de", "en"), [text], "de")[0].language == "de"


def test_short_texts_of_a_list_have_the_language_of_all() -> None:
    texts = ["Water", "Hello", "Search", "A man rides his bike down the street in the city. " * 3, "Name"]
    long = "Ein Mann fährt in der Stadt mit dem Fahrrad."
    found = detect_sources(detector("de", "en", "fr"), routes("de", "en", "fr"), [*texts, long], "fr")
    assert [each.language for each in found] == ["en"] * 5 + ["de"]
    assert len({found[place].confidence for place in (0, 1, 2, 4)}) == 1


def test_many_requests_make_one_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    messages: list[str] = []

    def make(languages: tuple[str, ...]) -> LanguageDetector:
        made.append(languages)
        time.sleep(0.05)
        if len(made) == 1:
            raise OSError("no space left on device")
        return detector(*languages)

    monkeypatch.setattr(service, "LanguageDetector", make)

    async def work() -> None:
        catalogue = Catalogue([resolve_model("captions-en-de")], print)
        serving = service.TranslationService(catalogue, ServerSettings(), Metrics(), messages.append)
        failed = await asyncio.gather(*(serving.detect("Two dogs") for _ in range(20)), return_exceptions=True)
        assert {getattr(each, "status", None) for each in failed} == {503} and len(made) == len(messages) == 1
        left = asyncio.create_task(serving.detect("Two dogs"))
        await asyncio.sleep(0.01)
        left.cancel()
        found = await asyncio.gather(*(serving.detect("Two dogs") for _ in range(20)))
        assert {each[0].language for each in found} == {"en"} and len(made) == 2

    asyncio.run(work())


@pytest.mark.parametrize("markup", [False, True])
def test_a_long_list_of_texts_does_not_hold_the_event_loop(monkeypatch: pytest.MonkeyPatch, markup: bool) -> None:
    used: list[threading.Thread] = []

    def note(self: LanguageDetector, text: str) -> list[Detected]:
        used.append(threading.current_thread())
        return [Detected("de", 100.0)]

    def divide(document: str) -> list[Segment]:
        used.append(threading.current_thread())
        return []

    monkeypatch.setattr(LanguageDetector, "detect", note)
    monkeypatch.setattr(service, "divide_document", divide)

    async def work() -> None:
        catalogue = Catalogue([resolve_model("captions-en-de")], print)
        serving = service.TranslationService(catalogue, ServerSettings(), Metrics(), print)
        texts = ["word " * 100] * 20
        await serving.translate("client", texts, "auto", "de", markup=markup, n_best=1, aligned=False)

    asyncio.run(work())
    assert len(used) >= 20 and threading.main_thread() not in used


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
