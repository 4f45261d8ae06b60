"""The ASGI application of `pocketmt serve --web`: the page that translates in the browser, and its model files."""

import gzip
import hashlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

import pocketmt
from pocketmt.errors import ConfigurationError
from pocketmt.serving.errors import ERROR_HANDLERS, RequestError, no_models, refusal
from pocketmt.serving.gate import Gate
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.models.description import ModelDescription
from pocketmt.serving.page_files import INDEX, TYPES
from pocketmt.serving.watching import watched_files

_MODELS: Final = "/models.json"
_NEVER: Final = re.compile(r"\s*q\s*=\s*0(\.0*)?\s*", re.IGNORECASE)  # the weight of a coding that is refused
_HEADERS: Final = {
    # WebAssembly is compiled; a model file that the user opens is fetched from a blob.
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self'; img-src data:; connect-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    # With Cross-Origin-Opener-Policy, which every answer has, the page is cross-origin isolated.
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # Browsers keep files, and ask by ETag whether they are the newest.
}


@dataclass(frozen=True)
class _PageFile:
    content: bytes
    compressed: bytes
    media_type: str
    etag: str


def page_folder() -> Path:
    """Return the folder of the page that `make web` has built; raises ConfigurationError if there is none."""
    folder = Path(pocketmt.__file__).resolve().parents[2] / "web" / "dist" / "page"
    if not (folder / INDEX).is_file():
        raise ConfigurationError(
            f"{folder} is missing: --web shows the page that `make web` builds in a copy of PocketMT's sources. Run it "
            "there (it needs npm), and start the server by .venv/bin/pocketmt"
        )
    return folder


def make_browser_application(catalogue: Catalogue, folder: Path, origin: str) -> Starlette:
    """Return the application.

    Args:
        catalogue: of the model files.
        folder: of the built page.
        origin: whose pages may download the model files, "*" for all, "" for none but this server's.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with watched_files(catalogue):
            yield

    routes = [Route(path, _send_page_file(file)) for path, file in _page_files(folder).items()]
    routes += [
        Route(_MODELS, _list_models(catalogue)),
        Route("/models/{name}", _send_model(catalogue, origin)),
        Route("/health", _health(catalogue)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=ERROR_HANDLERS)
    app.router.redirect_slashes = False  # as those of the API
    app.add_middleware(Gate, metrics=Metrics(), paths={route.path for route in routes}, origin=origin)
    return app


def _page_files(folder: Path) -> dict[str, _PageFile]:
    """Return path -> file, without the model and the list of models of other servers."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in TYPES:
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            file = _PageFile(content, gzip.compress(content, mtime=0), TYPES[path.suffix], etag)
            found[f"/{path.name}"] = file
    return found | {"/": found[f"/{INDEX}"]}  # The service worker keeps the index by both paths.


Endpoint = Callable[[Request], Awaitable[Response]]


def _send_page_file(file: _PageFile) -> Endpoint:
    async def answer(request: Request) -> Response:
        headers = _HEADERS | {"ETag": file.etag, "Vary": "Accept-Encoding"}
        if _is_known(request, file.etag):
            return Response(status_code=304, headers=headers)
        if not _takes_gzip(request):
            return Response(file.content, media_type=file.media_type, headers=headers)
        return Response(file.compressed, media_type=file.media_type, headers=headers | {"Content-Encoding": "gzip"})

    return answer


def _listed(request: Request, header: str) -> list[str]:
    return [each.strip() for value in request.headers.getlist(header) for each in value.split(",")]


def _is_known(request: Request, etag: str) -> bool:
    """Whether the client has the content with an ETag (RFC 9110, section 13.1.2)."""
    known = _listed(request, "if-none-match")
    return known == ["*"] or etag in (each.removeprefix("W/") for each in known)


def _takes_gzip(request: Request) -> bool:
    codings = [each.partition(";") for each in _listed(request, "accept-encoding")]
    return any(name.strip().lower() == "gzip" and not _NEVER.fullmatch(weight) for name, _, weight in codings)


def _named_models(catalogue: Catalogue) -> Mapping[str, ModelDescription]:
    """Return models by names that are unique, and UTF-8; of files of the same name, later ones get numbers."""
    named: dict[str, ModelDescription] = {}
    for path, model in catalogue.models.items():
        # A file's name may be in another encoding, but addresses are in UTF-8.
        first = Path(os.fsencode(path.name).decode(errors="replace"))
        name, number = first.name, 2
        while name in named:
            name, number = f"{first.stem}-{number}{first.suffix}", number + 1
        named[name] = model
    return named


def _list_models(catalogue: Catalogue) -> Endpoint:
    async def answer(request: Request) -> Response:
        models = [
            {
                "url": f"models/{quote(name)}",
                "bytes": model.stamp[1],
                "digest": model.digest,
                "source": model.sources,
                "target": model.targets,
            }
            for name, model in _named_models(catalogue).items()
        ]
        return JSONResponse(models, headers=_HEADERS)

    return answer


def _send_model(catalogue: Catalogue, origin: str) -> Endpoint:
    # Other pages that need these files are let in by the same setting as clients of the API.
    policy = "cross-origin" if origin else "same-origin"

    async def answer(request: Request) -> Response:
        model = _named_models(catalogue).get(request.path_params["name"])
        if model is None or not model.path.is_file():
            raise RequestError(404, "there is no such model: /models.json lists them")
        headers = _HEADERS | {"ETag": f'"{model.digest}"', "Cross-Origin-Resource-Policy": policy}
        if _is_known(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return FileResponse(model.path, media_type="application/octet-stream", headers=headers)

    return answer


def _health(catalogue: Catalogue) -> Endpoint:
    async def answer(request: Request) -> Response:
        if not catalogue.models:
            return refusal(no_models())
        return JSONResponse({"status": "ok"})

    return answer
