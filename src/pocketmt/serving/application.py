"""The ASGI application: the API and the page, with headers of security and one answer for every error."""

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pocketmt.serving.api import Answer, Api
from pocketmt.serving.connection import MOST_HEAD_BYTES
from pocketmt.serving.errors import RequestError
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.page_files import page_files
from pocketmt.serving.service import TranslationService
from pocketmt.serving.settings import ServerSettings

_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_OWN_ORIGIN_ONLY: Final = ("/metrics",)
_CLIENT_LEFT: Final = 499  # counted, never sent


def make_application(catalogue: Catalogue, settings: ServerSettings, report: Callable[[str], None]) -> Starlette:
    """Return the application.

    Args:
        catalogue: of the model files.
        settings: of the server.
        report: is told what the operator should know; never a text.
    """
    metrics = Metrics()
    holder: dict[str, Api] = {}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service = TranslationService(catalogue, settings, metrics, report)
        holder["api"] = Api(service, settings, metrics)
        watching = asyncio.create_task(service.watch_files())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    def endpoint(name: str) -> Callable[[Request], Answer]:
        async def answer(request: Request) -> Response:
            method: Callable[[Request], Answer] = getattr(holder["api"], name)
            try:
                return await method(request)
            except (RequestError, HTTPException, ClientDisconnect, asyncio.CancelledError):
                raise
            except Exception as error:
                report(_describe(error))
                return JSONResponse({"error": "the server failed: tell its operator"}, 500)

        return answer

    routes = [Route(path, endpoint(name), methods=[method]) for method, path, name in Api.ENDPOINTS]
    routes += [Route(path, _file(content, kind)) for path, (content, kind) in page_files().items()]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        max_body_size=settings.body_bytes,
        exception_handlers={RequestError: _refuse, HTTPException: _refuse_http},
    )
    paths = {route.path for route in routes}
    app.add_middleware(_Gate, metrics=metrics, paths=paths, origin=settings.allowed_origin)
    return app


def _describe(error: Exception) -> str:
    """Return the kind and place of an error, without its message, which could have a text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    return f"a request failed: {type(error).__name__}{place}"


def _file(content: bytes, kind: str) -> Callable[[Request], Answer]:
    headers = {"Content-Security-Policy": _PAGE_POLICY, "Cache-Control": "no-cache"}

    async def answer(request: Request) -> Response:
        return Response(content, media_type=kind, headers=headers)

    return answer


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return JSONResponse({"error": str(error)}, error.status, headers)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


class _Gate:
    """Counts answers, adds headers, and answers the questions of browsers whether other pages may use the API."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str], origin: str) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = paths
        self._cross_origin: Mapping[str, str] = {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Headers": "Authorization, Content-Type",
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Max-Age": "1728000",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.monotonic()
        path = scope["path"] if scope["path"] in self._paths else "other"
        status = _CLIENT_LEFT

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                shared = bool(self._cross_origin["Access-Control-Allow-Origin"]) and path not in _OWN_ORIGIN_ONLY
                for name, value in (_SECURITY | (dict(self._cross_origin) if shared else {})).items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MOST_HEAD_BYTES:
                refusal = JSONResponse({"error": "the head of the request is too long"}, 431, {"Connection": "close"})
                await refusal(scope, receive, send_with_headers)
            elif scope["method"] == "OPTIONS":
                await Response(status_code=204)(scope, receive, send_with_headers)
            else:
                await self._app(scope, receive, send_with_headers)
        except ClientDisconnect:
            # Nobody reads this answer.
            await Response(status_code=503)(scope, receive, send)
        finally:
            self._metrics.request(path, status, time.monotonic() - start)
