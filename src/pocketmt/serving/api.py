"""The HTTP API, compatible with that of LibreTranslate 1.9.

Requests and answers are as https://docs.libretranslate.com describes them. `alignment` is an addition: if it is true,
the answer has pairs of [start, end], in Unicode code points, of the words of the text and of the translation.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import ClassVar, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from pocketmt.serving.clients import Clients
from pocketmt.serving.connection import FROM_PROXY
from pocketmt.serving.detection import Detected
from pocketmt.serving.errors import RequestError, no_models
from pocketmt.serving.fields import file_field, flag_field, number_field, read_fields, text_field, texts_field
from pocketmt.serving.files import KINDS, TranslatedFiles
from pocketmt.serving.leaving import LeavingClient
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.service import TranslatedText, TranslationService, is_automatic
from pocketmt.serving.settings import ServerSettings
from pocketmt.serving.specification import specification
from pocketmt.text.languages import language_name

Value = TypeVar("Value")
Answer = Coroutine[object, object, Response]
FORMATS = ("text", "html")


class Api:
    """Answers the requests of the API.

    Attributes:
        ENDPOINTS: method of HTTP, path, and name of the method that answers.

    Args:
        service: translates.
        settings: of the server.
        metrics: to show.
    """

    ENDPOINTS: ClassVar = (
        ("POST", "/translate", "translate"),
        ("POST", "/detect", "detect"),
        ("GET", "/languages", "languages"),
        ("GET", "/health", "health"),
        ("GET", "/frontend/settings", "frontend_settings"),
        ("GET", "/spec", "spec"),
        ("GET", "/metrics", "metrics"),
        ("POST", "/suggest", "not_offered"),
        ("POST", "/translate_file", "translate_file"),
        ("GET", "/download_file/{name}", "download_file"),
    )

    def __init__(self, service: TranslationService, settings: ServerSettings, metrics: Metrics) -> None:
        self._service = service
        self._settings = settings
        self._metrics = metrics
        self._clients = Clients(settings)
        self._files = TranslatedFiles()
        self.started = time.time()

    async def translate(self, request: Request) -> Response:
        """Translate a text, or a list of texts."""
        fields, client = await self._read(request)
        texts, listed = texts_field(fields, self._settings.texts)
        source, target = text_field(fields, "source"), text_field(fields, "target")
        format_name = text_field(fields, "format", "text")
        if format_name not in FORMATS:
            raise RequestError(400, f"format {format_name[:20]!r} is not supported: give text or html")
        alternatives = number_field(fields, "alternatives", self._settings.alternatives)
        aligned = flag_field(fields, "alignment")
        self._check_characters(texts)
        markup = format_name == "html"
        done = await self._unless_client_leaves(
            request,
            self._service.translate(
                client,
                texts,
                source,
                target,
                markup=markup,
                n_best=1 if markup else 1 + alternatives,
                aligned=aligned and not markup,
            ),
        )
        self._metrics.translated(sum(map(len, texts)))
        members = _members(done, detected=is_automatic(source), alternatives=alternatives > 0, aligned=aligned)
        answers = {name: values if listed else values[0] for name, values in members}
        return JSONResponse(answers)

    async def translate_file(self, request: Request) -> Response:
        """Translate a file, and answer where the translation can be downloaded."""
        fields, client = await self._read(request)
        file = file_field(fields)
        source = text_field(fields, "source")
        target = self._service.language(text_field(fields, "target"), "target")
        text = file.text()
        self._check_characters([text], "the file")
        units = await asyncio.to_thread(file.units, text)
        if units is not None:
            text = "\n".join(line for unit in units for line in unit.lines)
            self._check_characters([text], "the file with all forms of its messages")
        work = self._service.translate(client, [text], source, target, markup=file.is_html, n_best=1, aligned=False)
        [done] = await self._unless_client_leaves(request, work)
        self._metrics.translated(len(text))
        content = await asyncio.to_thread(file.translated, units, done.text)
        key = self._files.keep(file.translated_name(target), content)
        return JSONResponse({"translatedFileUrl": f"{_address_of_server(request)}/download_file/{key}"})

    async def download_file(self, request: Request) -> Response:
        """Send a translated file, which a browser stores and does not show."""
        key = request.path_params["name"]
        content = self._files.find(key)
        if content is None:
            raise RequestError(404, "there is no such file: a translated file is kept for ten minutes")
        name = key.partition(".")[2]
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def detect(self, request: Request) -> Response:
        """Find the language of a text."""
        fields, _ = await self._read(request)
        texts, _ = texts_field(fields, 1)
        self._check_characters(texts)
        found = await self._service.detect(texts[0] if texts else "")
        return JSONResponse([_detected(each) for each in found])

    async def languages(self, request: Request) -> Response:
        """List the languages."""
        routes = self._service.catalogue.routes
        return JSONResponse(
            [
                {
                    "code": code,
                    "name": language_name(code),
                    "targets": sorted({code, *routes.targets.get(code, ())}),
                }
                for code in routes.languages
            ]
        )

    async def health(self, request: Request) -> Response:
        """Say whether there is a model."""
        if not self._service.catalogue.routes.languages:
            raise no_models()
        return JSONResponse({"status": "ok"})

    async def frontend_settings(self, request: Request) -> Response:
        """Say what a page needs to know."""
        source, target = next(iter(self._service.catalogue.routes.steps), ("", ""))
        return JSONResponse(
            {
                "apiKeys": bool(self._settings.api_keys),
                "charLimit": self._settings.characters,
                "filesTranslation": True,
                "frontendTimeout": 500,
                "keyRequired": self._settings.keys_required,
                "language": {
                    "source": {"code": source, "name": language_name(source)},
                    "target": {"code": target, "name": language_name(target)},
                },
                "suggestions": False,
                "supportedFilesFormat": list(KINDS),
            }
        )

    async def spec(self, request: Request) -> Response:
        """Describe the API."""
        return JSONResponse(specification(self._settings.alternatives))

    async def metrics(self, request: Request) -> Response:
        """Show the counters."""
        requests, cost = self._service.batcher.waiting
        store = self._service.store
        gauges = {
            "pocketmt_queue_requests": ("Requests that wait for translation.", requests),
            "pocketmt_queue_cost": ("Their characters, and 20 for each sentence.", cost),
            "pocketmt_models_loaded": ("Models in memory.", len(store.loaded)),
            "pocketmt_models_bytes": ("Estimate of their memory.", store.memory),
            "pocketmt_start_time_seconds": ("When the server started, in Unix time.", int(self.started)),
        }
        return PlainTextResponse(self._metrics.render(gauges), media_type="text/plain; version=0.0.4")

    async def not_offered(self, request: Request) -> Response:
        """Refuse what this server does not do."""
        raise RequestError(403, "this server does not offer it: /frontend/settings says what it offers")

    async def _read(self, request: Request) -> tuple[dict[str, object], str]:
        """Return the fields of a request and its client; raises RequestError."""
        address = request.client.host if request.client is not None else ""
        try:
            body = await request.body()
            fields = read_fields(request.headers.get("content-type", ""), body, request.scope["query_string"])
            key = text_field(fields, "api_key", "")
        except RequestError:
            self._clients.count_unreadable(address)
            raise
        return fields, self._clients.identify(address, key)

    def _check_characters(self, texts: list[str], what: str = "q") -> None:
        characters = sum(map(len, texts))
        if characters > self._settings.characters:
            limit = self._settings.characters
            raise RequestError(400, f"{what} has {characters:,} characters, the limit is {limit:,}: send less at once")

    async def _unless_client_leaves(self, request: Request, work: Coroutine[object, object, Value]) -> Value:
        """Return the result of some work, which is cancelled when the client closes the connection."""
        with LeavingClient(request) as client:
            try:
                return await work
            except asyncio.CancelledError:
                if not client.left:
                    raise
                self._metrics.cancelled()
                raise ClientDisconnect from None


def _address_of_server(request: Request) -> str:
    """Return the address that a client asked, as the client or a trusted proxy writes it; it may be no address."""
    host, prefix = request.headers.get("host", ""), ""
    if request.scope.get("state", {}).get(FROM_PROXY):
        # Each of several proxies adds its own host; the first is that of the client.
        host = request.headers.get("x-forwarded-host", host).partition(",")[0].strip()
        prefix = request.headers.get("x-forwarded-prefix", "").strip().strip("/")
    return f"{request.scope['scheme']}://{host}{prefix and '/'}{prefix}"


def _members(
    done: list[TranslatedText], *, detected: bool, alternatives: bool, aligned: bool
) -> list[tuple[str, list[object]]]:
    """Return the members of an answer, each with the values of all texts."""
    members: list[tuple[str, list[object]]] = [("translatedText", [each.text for each in done])]
    if detected:
        found = [_detected(each.detected) for each in done if each.detected is not None]
        members.append(("detectedLanguage", list(found)))
    if alternatives:
        members.append(("alternatives", [each.alternatives for each in done]))
    if aligned:
        links = [
            [[[link.source_start, link.source_end], [link.target_start, link.target_end]] for link in each.links]
            for each in done
        ]
        members.append(("alignment", list(links)))
    return members


def _detected(detected: Detected) -> dict[str, object]:
    return {"confidence": detected.confidence, "language": detected.language}
