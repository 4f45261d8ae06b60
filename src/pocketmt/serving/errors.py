"""Errors that are answered to a client."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class RequestError(Exception):
    """A request that cannot be answered; the message is sent to the client.

    Attributes:
        status: of the HTTP answer.
        retry_after: seconds after which the client may try again; None: it need not.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


def no_models() -> RequestError:
    """Return the error of a server whose model files are all gone."""
    return RequestError(503, "there are no models: try again later", 5)


def refusal(error: RequestError) -> JSONResponse:
    """Return the answer that tells a client of an error."""
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return JSONResponse({"error": str(error)}, error.status, headers)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return refusal(error)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail, methods = error.detail, (error.headers or {}).get("Allow", "").split(", ")
    if error.status_code == 405:
        known = " or ".join(sorted({*methods} - {"HEAD"}))
        detail = f"{request.url.path} does not answer the method {request.method}: send {known}"
    return JSONResponse({"error": detail}, error.status_code, error.headers)


ERROR_HANDLERS: Final = {RequestError: _refuse, HTTPException: _refuse_http}  # of an application of Starlette
