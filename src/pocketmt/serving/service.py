"""The service: texts and HTML in one language, and their translations and languages."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from pocketmt.engine import Translator
from pocketmt.engine.line_parts import LINE_BREAK
from pocketmt.markup.division import Translation
from pocketmt.markup.links import Link
from pocketmt.markup.placing import render_segment
from pocketmt.markup.segments import Segment, divide_document
from pocketmt.serving.allocator import return_freed_memory
from pocketmt.serving.detection import Detected, LanguageDetector, detect_sources
from pocketmt.serving.errors import RequestError, no_models
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue, Routes, Step
from pocketmt.serving.models.store import ModelStore
from pocketmt.serving.queue.batcher import Batcher
from pocketmt.serving.settings import ServerSettings
from pocketmt.serving.translation.engine_batch import EngineBatches, Kind
from pocketmt.serving.translation.lines import LineTranslator

_QUICKLY_READ: Final = 5_000  # characters of HTML, or of texts to detect; more are read in a thread
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


def is_automatic(source: str) -> bool:
    """Return whether the language of a text is to be detected."""
    return source.lower() == "auto"


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
        self._report = report
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
            source: code of their language, or "auto" in any case.
            target: code of the language to translate into.
            markup: whether the texts are HTML.
            n_best: translations of each text; of HTML there is one.
            aligned: whether links are needed.

        Raises RequestError if a language is unknown, or there is too much to do.
        """
        target = self.language(target, "target")
        detected: list[Detected | None] = [None] * len(texts)
        sources = [source] * len(texts)
        if is_automatic(source):
            found = await self._detect_sources(texts, target, markup=markup)
            detected, sources = [*found], [each.language for each in found]
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
            raise RequestError(429, f"not done within {seconds:g} seconds: send less, or try again later") from None
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
            code = self.language(source, "source")
            route = self.catalogue.routes.route(code, target)
            if route is None:
                raise RequestError(400, f"no model translates from {code} to {target}")
            found.append((route, its_places))
        return found

    def language(self, code: str, name: str) -> str:
        """Return the code that the models have for a language.

        Args:
            code: as a client writes it.
            name: of its field.

        Raises RequestError (400) if no model has the language, and (503) without models.
        """
        routes = self.catalogue.routes
        found = routes.find(code)
        if found is None:
            if not routes.languages:
                raise no_models()
            known = ", ".join(routes.languages)
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
        if not route:
            return [TranslatedText(text) for text in texts]
        documents = await _in_thread_if_long(_divide_all, texts)
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
        return await asyncio.to_thread(_render_all, documents, done)

    async def detect(self, text: str) -> list[Detected]:
        """Return the languages that a text may be in, most probable first; raises RequestError (503) without models."""
        detector = await self._find_detector()
        return await _in_thread_if_long(lambda texts: detector.detect(texts[0]), [text])

    async def _find_detector(self) -> LanguageDetector:
        """Return the detector of the languages of the models; requests that come while it is made wait for it.

        Raises RequestError (503) without models, and if it cannot be made.
        """
        languages = self.catalogue.routes.languages
        if not languages:
            raise no_models()
        if self._detector is None or self._detector[0] != languages:
            self._detector = languages, asyncio.ensure_future(asyncio.to_thread(_make_detector, languages))
        found = self._detector
        try:
            # A client that leaves does not stop it.
            return await asyncio.shield(found[1])
        except OSError as error:
            if self._detector is found:
                self._detector = None  # The disk may have room for it later.
                self._report(f"languages cannot be detected: {error}. Look at the folder of temporary files (TMPDIR)")
            message = "the language cannot be detected: give source, or try again later"
            raise RequestError(503, message, 10) from error

    async def _detect_sources(self, texts: Sequence[str], target: str, *, markup: bool) -> list[Detected]:
        detector = await self._find_detector()
        work = partial(_sources_of_documents if markup else detect_sources, detector, self.catalogue.routes)
        return await _in_thread_if_long(lambda found: work(found, target), texts)


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


async def _in_thread_if_long(work: Callable[[Sequence[str]], Value], texts: Sequence[str]) -> Value:
    return await asyncio.to_thread(work, texts) if sum(map(len, texts)) > _QUICKLY_READ else work(texts)


def _sources_of_documents(
    detector: LanguageDetector, routes: Routes, documents: Sequence[str], target: str
) -> list[Detected]:
    texts = [" ".join(segment.text for segment in segments) for segments in _divide_all(documents)]
    return detect_sources(detector, routes, texts, target)


def _divide_all(documents: Sequence[str]) -> list[list[Segment]]:
    return [divide_document(document) for document in documents]


def _render_all(documents: Sequence[Sequence[Segment]], done: dict[int, Translation]) -> list[TranslatedText]:
    """Return translated documents.

    Args:
        documents: their segments.
        done: `id` of a segment -> its translation; copied segments have none.
    """
    empty = Translation(("",))
    return [
        TranslatedText("".join(render_segment(segment, done.get(id(segment), empty)) for segment in segments))
        for segments in documents
    ]


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
