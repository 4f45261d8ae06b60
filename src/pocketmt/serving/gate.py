"""A layer around the applications: headers of security, limits of size, cross-origin questions, and counters."""

import asyncio
import time
from collections.abc import Mapping
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pocketmt.serving.connection import CROWDED, MOST_HEAD_BYTES, SECONDS_TO_RETRY
from pocketmt.serving.errors import RequestError, refusal
from pocketmt.serving.metrics import Metrics

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


class Gate:
    """Counts answers, adds headers, and answers the questions of browsers whether other pages may use the API."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, paths: set[str], origin: str, longest_body: int | None = None
    ) -> None:
        self._app = app
        self._longest_body = longest_body
        self._metrics = metrics
        self._paths = paths
        # Beginning of paths -> their template, under which they are counted.
        self._templates = {path.partition("{")[0]: path for path in paths if "{" in path}
        self._own = _encoded(_SECURITY)
        cross_origin = {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Headers": "Authorization, Content-Type",
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Max-Age": "1728000",
        }
        self._shared = [*self._own, *(_encoded(cross_origin) if origin else ())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.monotonic()
        path = self._counted_path(scope["path"])
        status = _CLIENT_LEFT

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = message.setdefault("headers", [])
                names = {name for name, _ in given}
                added = self._own if path in _OWN_ORIGIN_ONLY else self._shared
                message["headers"] = [*given, *(header for header in added if header[0] not in names)]
            await send(message)

        try:
            refused = self._refusal(scope)
            if refused is not None:
                await refused(scope, receive, send_with_headers)
            elif scope["method"] == "OPTIONS":
                await Response(status_code=204)(scope, receive, send_with_headers)
            else:
                await self._app(scope, self._limited(scope, receive), send_with_headers)
        except ClientDisconnect:
            # Nobody reads this answer.
            await Response(status_code=503)(scope, receive, send)
        except asyncio.CancelledError:
            if status != _CLIENT_LEFT:
                raise  # The answer has begun.
            ending = RequestError(503, "the server is ending: try again later", SECONDS_TO_RETRY)
            await refusal(ending)(scope, receive, send_with_headers)
        finally:
            self._metrics.request(path, status, time.monotonic() - start)

    def _counted_path(self, path: str) -> str:
        if path in self._paths:
            return path
        return next((whole for start, whole in self._templates.items() if path.startswith(start)), "other")

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not passed on, which ends its connection; None: it is passed on."""
        if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MOST_HEAD_BYTES:
            answer = refusal(RequestError(431, "the head of the request is too long"))
        elif scope.get("state", {}).get(CROWDED) and scope["path"] != "/health":
            answer = refusal(RequestError(503, "too many connections: try again later", SECONDS_TO_RETRY))
        else:
            return None
        answer.headers["Connection"] = "close"
        return answer

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Return what receives the body of a request, and raises RequestError (413) if it is too long.

        Starlette's own limit answers in plain text, without the limit.
        """
        if (limit := self._longest_body) is None:
            return receive
        too_long = RequestError(413, f"the body has more than {limit:,} bytes: send less at once")
        declared, received = int(dict(scope["headers"]).get(b"content-length", b"0")), 0

        async def receive_within_limit() -> Message:
            nonlocal received
            if declared > limit:
                raise too_long
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise too_long
            return message

        return receive_within_limit


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return headers as the protocol of ASGI has them, with names in lower case."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
