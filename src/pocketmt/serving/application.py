"""The ASGI application: the API and the page, with one answer for every error."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pocketmt.serving.api import Answer, Api
from pocketmt.serving.errors import ERROR_HANDLERS, RequestError
from pocketmt.serving.gate import Gate
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.page_files import page_files
from pocketmt.serving.service import TranslationService
from pocketmt.serving.settings import ServerSettings
from pocketmt.serving.watching import watched_files

_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


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
        async with watched_files(catalogue, service.store):
            yield

    def endpoint(name: str) -> Callable[[Request], Answer]:
        async def answer(request: Request) -> Response:
            method: Callable[[Request], Answer] = getattr(holder["api"], name)
            try:
                return await method(request)
            except (RequestError, HTTPException, ClientDisconnect, asyncio.CancelledError):
                raise
            except Exception as error:
                report(_describe(error))
                return JSONResponse({"error": "the server failed: contact the operator"}, 500)

        return answer

    routes = [Route(path, endpoint(name), methods=[method]) for method, path, name in Api.ENDPOINTS]
    routes += [Route(path, _file(content, kind)) for path, (content, kind) in page_files().items()]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers=ERROR_HANDLERS,
    )
    app.router.redirect_slashes = False  # It would redirect past the path that a proxy puts before those of the server.
    paths = {route.path for route in routes}
    origin, longest = settings.allowed_origin, settings.body_bytes
    app.add_middleware(Gate, metrics=metrics, paths=paths, origin=origin, longest_body=longest)
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
