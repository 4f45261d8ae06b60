"""The service: texts and HTML in one language, and their translations and languages."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from pocketmt.engine import Translator
from pocketmt.serving.allocator import return_freed_memory
from pocketmt.serving.detection import Detected, LanguageDetector
from pocketmt.serving.errors import RequestError
from pocketmt.serving.markup.placing import render_segment
from pocketmt.serving.markup.segments import Segment, divide_document
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue, Step
from pocketmt.serving.models.store import ModelStore
from pocketmt.serving.queue.batcher import Batcher
from pocketmt.serving.settings import ServerSettings
from pocketmt.serving.translation.division import LINE_BREAK, Translation
from pocketmt.serving.translation.engine_batch import EngineBatches, Kind
from pocketmt.serving.translation.lines import LineTranslator
from pocketmt.serving.translation.links import Link

_QUICKLY_READ: Final = 5_000  # characters of HTML, or of text to detect; more are read in a thread
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class TranslatedText:
    """A translated text.

    Attributes:
        text: the translation.
        alternatives: other translations, best first.
        links: between the characters of the text and the translation, if they were asked for.
        detected: the language that was found; None: it was given.
    """

    text: str
    alternatives: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    detected: Detected | None = None


class TranslationService:
    """Translates for many clients with the models of a catalogue. Belongs to one event loop.

    Args:
        catalogue: of the model files.
        settings: of the server.
        metrics: are told of batches.
        report: is told what is loaded.
    """

    def __init__(
        self, catalogue: Catalogue, settings: ServerSettings, metrics: Metrics, report: Callable[[str], None]
    ) -> None:
        self.catalogue = catalogue
        self._settings = settings
        self.store = ModelStore(self._load, settings.model_memory, report)
        engine = EngineBatches(settings.beam_size, settings.workers)
        self.batcher: Batcher[Kind, Translation] = Batcher(
            engine.translate,
            workers=settings.workers,
            most_cost=settings.queued_characters,
            most_requests=settings.queued_requests,
            observer=metrics,
        )
        self._lines = LineTranslator(self.store, self.batcher)
        self._detector: tuple[tuple[str, ...], asyncio.Future[LanguageDetector]] | None = None

    def _load(self, path: Path) -> Translator:
        return Translator(path, workers=self._settings.workers)

    async def translate(
        self, client: str, texts: Sequence[str], source: str, target: str, *, markup: bool, n_best: int, aligned: bool
    ) -> list[TranslatedText]:
        """Return the translation of each text.

        Args:
            client: who asks.
            texts: to translate.
            source: code of their language, or "auto".
            target: code of the language to translate into.
            markup: whether the texts are HTML.
            n_best: translations of each text; of HTML there is one.
            aligned: whether links are needed.

        Raises RequestError if a language is unknown, or there is too much to do.
        """
        target = self._language(target, "target")
        detected: list[Detected | None] = [None] * len(texts)
        sources = [source] * len(texts)
        if source == "auto":
            detected = [await self._detect_for(text, target, markup=markup) for text in texts]
            sources = [each.language for each in detected if each is not None]
        routes = self._by_route(sources, target)
        work = [
            self._translate_all(client, [texts[place] for place in places], route, markup, n_best, aligned)
            for route, places in routes
        ]
        order = [place for _, places in routes for place in places]
        try:
            async with asyncio.timeout(self._settings.deadline):
                groups = await _gather(work)
        except TimeoutError:
            seconds = self._settings.deadline
            raise RequestError(429, f"not done within {seconds:g} seconds: try again later", 10) from None
        done = dict(zip(order, (text for group in groups for text in group), strict=True))
        return [
            TranslatedText(done[place].text, done[place].alternatives, done[place].links, detected[place])
            for place in range(len(texts))
        ]

    def _by_route(self, sources: Sequence[str], target: str) -> list[tuple[tuple[Step, ...], list[int]]]:
        """Return the routes from some languages, each with the places of its sources; raises RequestError (400)."""
        places: dict[str, list[int]] = {}
        for place, source in enumerate(sources):
            places.setdefault(source, []).append(place)
        found = []
        for source, its_places in places.items():
            code = self._language(source, "source")
            route = self.catalogue.routes.route(code, target)
            if route is None:
                raise RequestError(400, f"no model translates from {code} to {target}")
            found.append((route, its_places))
        return found

    def _language(self, code: str, name: str) -> str:
        found = self.catalogue.routes.find(code)
        if found is None:
            known = ", ".join(self.catalogue.routes.languages) or "none"
            raise RequestError(400, f"{name} {code[:20]!r} is not supported: the languages are {known}")
        return found

    async def _translate_all(
        self, client: str, texts: Sequence[str], route: tuple[Step, ...], markup: bool, n_best: int, aligned: bool
    ) -> list[TranslatedText]:
        if markup:
            return await self._translate_documents(client, texts, route)
        parts = [LINE_BREAK.split(text) for text in texts]
        lines = [line for part in parts for line in part[::2]]
        done = iter(await self._lines.translate(client, route, lines, n_best=n_best, aligned=aligned))
        return [_join_lines(part, list(islice(done, len(part[::2]))), n_best) for part in parts]

    async def _translate_documents(
        self, client: str, texts: Sequence[str], route: tuple[Step, ...]
    ) -> list[TranslatedText]:
        documents = [await _in_thread_if_long(divide_document, text) for text in texts]
        segments = [segment for document in documents for segment in document if segment.text]
        with_tags = [segment for segment in segments if segment.elements]
        plain = [segment for segment in segments if not segment.elements]
        # Both begin at once, so that a model that is replaced meanwhile translates all or nothing.
        translated = await _gather(
            [
                self._lines.translate(client, route, [segment.text for segment in with_tags], aligned=True),
                self._lines.translate(client, route, [segment.text for segment in plain]),
            ]
        )
        done = {
            id(segment): translation
            for segments, translations in zip((with_tags, plain), translated, strict=True)
            for segment, translation in zip(segments, translations, strict=True)
        }
        return [TranslatedText(await asyncio.to_thread(_render, document, done)) for document in documents]

    async def detect(self, text: str, *, markup: bool = False) -> list[Detected]:
        """Return the languages that a text may be in, most probable first; raises RequestError (400) without models."""
        languages = self.catalogue.routes.languages
        if not languages:
            raise RequestError(503, "there are no models", 5)
        detector = await self._detector_of(languages)
        if markup:
            segments = await _in_thread_if_long(divide_document, text)
            text = " ".join(segment.text for segment in segments)
        return await _in_thread_if_long(detector.detect, text)

    async def _detector_of(self, languages: tuple[str, ...]) -> LanguageDetector:
        """Return the detector of some languages; requests that come while it is made wait for the same one."""
        if self._detector is None or self._detector[0] != languages:
            self._detector = languages, asyncio.ensure_future(asyncio.to_thread(_make_detector, languages))
        found = self._detector
        try:
            # A client that leaves does not stop it.
            return await asyncio.shield(found[1])
        except OSError:
            if self._detector is found:
                self._detector = None  # The disk may have room for it later.
            raise

    async def _detect_for(self, text: str, target: str, *, markup: bool) -> Detected:
        """Return the most probable language of a text that can be translated into another."""
        candidates = await self.detect(text, markup=markup)
        routes = self.catalogue.routes
        possible = [each for each in candidates if routes.route(each.language, target) is not None]
        if possible:
            return possible[0]
        sources = [source for source in routes.targets if routes.route(source, target) is not None]
        return Detected(min(sources), 0.0) if sources else candidates[0]


def _make_detector(languages: tuple[str, ...]) -> LanguageDetector:
    detector = LanguageDetector(languages)
    return_freed_memory()
    return detector


async def _gather(work: Sequence[Coroutine[object, object, Value]]) -> list[Value]:
    """Return the results of coroutines that run at the same time; if one fails, the others are cancelled."""
    if len(work) == 1:
        return [await work[0]]
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _in_thread_if_long(work: Callable[[str], Value], text: str) -> Value:
    return await asyncio.to_thread(work, text) if len(text) > _QUICKLY_READ else work(text)


def _render(document: Sequence[Segment], done: dict[int, Translation]) -> str:
    return "".join(render_segment(segment, done.get(id(segment), Translation(("",)))) for segment in document)


def _join_lines(parts: Sequence[str], lines: Sequence[Translation], n_best: int) -> TranslatedText:
    """Return a text from its lines and line breaks, and the translations of the lines."""
    texts: list[str] = []
    for place in range(n_best):
        joined = list(parts)
        joined[::2] = [line.texts[min(place, len(line.texts) - 1)] for line in lines]
        texts.append("".join(joined))
    links: list[Link] = []
    source = target = 0
    for index, part in enumerate(parts):
        if index % 2 == 0:
            line = lines[index // 2]
            links += (link.moved(source, target) for link in line.links)
            target += len(line.texts[0])
        else:
            target += len(part)
        source += len(part)
    return TranslatedText(texts[0], tuple(text for text in dict.fromkeys(texts) if text != texts[0]), tuple(links))
