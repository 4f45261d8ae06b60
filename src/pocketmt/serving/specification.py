"""The description of the API in OpenAPI 3.0, which `/spec` answers."""

from collections.abc import Mapping
from typing import Final

import pocketmt
from pocketmt.serving.files import KINDS

_LIST: Final[dict[str, object]] = {"type": "array", "items": {"type": "string"}}
_TEXTS: Final[dict[str, object]] = {"oneOf": [{"type": "string"}, _LIST]}
_DETECTED: Final[dict[str, object]] = {
    "type": "object",
    "properties": {"confidence": {"type": "number", "minimum": 0, "maximum": 100}, "language": {"type": "string"}},
}
_TRANSLATE: Final[dict[str, object]] = {
    "q": _TEXTS,
    "source": {"type": "string", "description": 'code of a language, or "auto"', "example": "en"},
    "target": {"type": "string", "example": "de"},
    "format": {"type": "string", "enum": ["text", "html"], "default": "text"},
    "alignment": {
        "type": "boolean",
        "default": False,
        "description": "whether to answer which words belong together (an addition to the API of LibreTranslate)",
    },
    "api_key": {"type": "string"},
}
_TRANSLATED: Final[dict[str, object]] = {
    "translatedText": _TEXTS,
    "detectedLanguage": {"oneOf": [_DETECTED, {"type": "array", "items": _DETECTED}]},
    "alternatives": {"type": "array", "items": _TEXTS},
    "alignment": {"type": "array", "items": {"type": "array"}},
}
_ERROR: Final = {"type": "object", "properties": {"error": {"type": "string"}}}
_ANY_ERRORS: Final = {
    "429": "too many connections from one address: try again after the seconds of Retry-After",
    "500": "the server failed",
    "503": "no models, a model that cannot be loaded, or too many connections: try again later",
}
_POST_ERRORS: Final = {
    "400": "a field is wrong, or too long",
    "403": "the api_key is missing or unknown",
    "413": "the body is too long",
    "429": "too many requests or connections: try again after the seconds of Retry-After; without it, the text takes "
    "too long",
}


def specification(alternatives: int) -> dict[str, object]:
    """Return the description as JSON values.

    Args:
        alternatives: most of a text.
    """
    number = {"type": "integer", "minimum": 0, "maximum": alternatives, "default": 0}
    translate = _TRANSLATE | {"alternatives": number}
    detect: dict[str, object] = {"q": {"type": "string"}, "api_key": {"type": "string"}}
    languages = {
        "type": "array",
        "items": _object({"code": {"type": "string"}, "name": {"type": "string"}, "targets": _LIST}),
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "PocketMT", "version": pocketmt.__version__, "license": {"name": "Apache-2.0"}},
        "paths": {
            "/translate": {
                "post": _operation("Translate texts", _object(_TRANSLATED), translate, ["q", "source", "target"])
            },
            "/translate_file": {"post": _translate_file()},
            "/download_file/{name}": {"get": _download_file()},
            "/detect": {"post": _operation("Detect a language", {"type": "array", "items": _DETECTED}, detect, ["q"])},
            "/suggest": {"post": {"summary": "Not offered", "responses": _errors({"403": "it is not offered"})}},
            "/languages": {"get": _operation("List the languages", languages)},
            "/health": {"get": _operation("Whether the server works", _object({"status": {"type": "string"}}))},
            "/frontend/settings": {"get": _operation("Limits and what is offered", {"type": "object"})},
            "/metrics": {"get": _operation("Counters for Prometheus", {"type": "string"}, answer_type="text/plain")},
        },
    }


def _translate_file() -> dict[str, object]:
    fields: dict[str, object] = {
        "file": {"type": "string", "format": "binary", "description": f"in UTF-8; its name ends in {', '.join(KINDS)}"},
        "source": _TRANSLATE["source"],
        "target": _TRANSLATE["target"],
        "api_key": {"type": "string"},
    }
    answer = _object({"translatedFileUrl": {"type": "string", "description": "is valid for ten minutes"}})
    operation = _operation("Translate a file", answer, fields, ["file", "source", "target"])
    body = {"schema": _object(fields) | {"required": ["file", "source", "target"]}}
    return operation | {"requestBody": {"required": True, "content": {"multipart/form-data": body}}}


def _download_file() -> dict[str, object]:
    binary = {"type": "string", "format": "binary"}
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    errors = {"404": "there is no such file"} | _ANY_ERRORS
    operation = _operation("Download a translated file", binary, errors=errors, answer_type="application/octet-stream")
    return operation | {"parameters": [name]}


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def _errors(errors: Mapping[str, str]) -> dict[str, object]:
    """Return the answers for some errors: status -> its meaning."""
    return {
        status: {"description": text, "content": {"application/json": {"schema": _ERROR}}}
        for status, text in errors.items()
    }


def _operation(
    summary: str,
    answer: Mapping[str, object],
    fields: Mapping[str, object] | None = None,
    required: list[str] | None = None,
    *,
    errors: Mapping[str, str] = _ANY_ERRORS,
    answer_type: str = "application/json",
) -> dict[str, object]:
    operation: dict[str, object] = {
        "summary": summary,
        "responses": {
            "200": {"description": "done", "content": {answer_type: {"schema": answer}}},
            **_errors(errors if fields is None else {**errors, **_POST_ERRORS}),
        },
    }
    if fields is not None:
        schema = _object(fields) | {"required": required}
        types = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
        operation["requestBody"] = {"required": True, "content": {name: {"schema": schema} for name in types}}
    return operation
