"""Fields of a request: JSON, or a form of either kind, and their types."""

import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from pocketmt.serving.errors import RequestError
from pocketmt.serving.files import UploadedFile
from pocketmt.serving.multipart import Part, form_parts
from pocketmt.text.normalization import replace_surrogates

FILE: Final = "file"  # the field with a file
MOST_FIELDS: Final = 100  # of a form
_SHOWN: Final = 40  # characters of a wrong value
_UTF8: Final = ("utf-8", "utf8", "us-ascii", "")  # names of the encoding, of a part of it, and none
_EMPTY: Final = (None, "")  # Clients send these for fields that they do not set.


def read_fields(content_type: str, body: bytes, query: bytes) -> dict[str, object]:
    """Return the fields of a request, those of its body and of its address.

    Raises RequestError (400) if the body is not what its type says.
    """
    fields: dict[str, object] = _form(query, "the query of the address")
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        if body.lstrip().startswith(b"{"):
            raise RequestError(
                400, "the body is JSON, but its type is that of a form: set Content-Type: application/json"
            )
        return fields | _form(body, "the form")
    if kind == "multipart/form-data":
        return fields | _multipart(content_type, body)
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise RequestError(400, f"the type of the body is {kind[:_SHOWN]}: send JSON or a form")
    if not body.strip():
        return fields
    try:
        value = json.loads(body)
    except UnicodeDecodeError as error:
        raise _not_utf8("the body") from error
    except (ValueError, RecursionError) as error:
        raise RequestError(400, 'the body is not JSON: send an object such as {"q": "text"}') from error
    if not isinstance(value, dict):
        raise RequestError(400, 'the body is not a JSON object: send one such as {"q": "text"}')
    return fields | value


def _not_utf8(what: str) -> RequestError:
    return RequestError(400, f"{what} is not UTF-8: send it in UTF-8")


def _form(form: bytes, what: str) -> dict[str, object]:
    try:
        pairs = parse_qsl(form.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError as error:
        raise _not_utf8(what) from error
    except ValueError as error:
        raise RequestError(400, f"{what} has more than {MOST_FIELDS} fields") from error
    return dict(reversed(pairs))  # Of fields of the same name, the first counts.


def _multipart(content_type: str, body: bytes) -> dict[str, object]:
    try:
        parts = form_parts(content_type, body, MOST_FIELDS)
    except ValueError as error:
        raise RequestError(400, f"the body is not a form of type multipart/form-data: {error}") from error
    fields: dict[str, object] = {}
    for part in parts:
        if part.name is None:
            continue
        if part.name == FILE and part.file_name is not None:
            fields.setdefault(FILE, UploadedFile(part.file_name, part.content))
        else:
            fields.setdefault(part.name, _text_of(part))
    return fields


def _text_of(part: Part) -> str:
    # Some clients declare ISO-8859-1 for fields in ASCII.
    if part.charset not in _UTF8 and not part.content.isascii():
        raise RequestError(400, f"the field {part.name!r:.{_SHOWN}} is in {part.charset:.{_SHOWN}}: send it in UTF-8")
    try:
        return part.content.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(f"the field {part.name!r:.{_SHOWN}}") from error


def texts_field(fields: Mapping[str, object], most: int) -> tuple[list[str], bool]:
    """Return the texts of the field q, and whether it is a list; raises RequestError (400)."""
    value = fields.get("q")
    if value is None:
        raise RequestError(400, "q is missing: give the text")
    listed = isinstance(value, list)
    values = value if isinstance(value, list) else [value]
    if len(values) > most:
        raise RequestError(400, f"q has {len(values):,} texts, the limit is {most:,}: send fewer at once")
    texts = [replace_surrogates(text) for text in values if isinstance(text, str)]
    if len(texts) < len(values):
        raise RequestError(400, "q must be a string or a list of strings")
    return texts, listed


def text_field(fields: Mapping[str, object], name: str, default: str | None = None) -> str:
    """Return a field with a text, the default if it is missing or empty.

    Raises RequestError (400) if it is missing without a default, or no text.
    """
    value = fields.get(name)
    if default is not None and value in _EMPTY:
        return default
    if value is None:
        raise RequestError(400, f"{name} is missing: give the code of a language; GET /languages lists them")
    if not isinstance(value, str):
        raise RequestError(400, f"{name} must be a string")
    return value


def number_field(fields: Mapping[str, object], name: str, most: int) -> int:
    """Return a field with a whole number from 0 to `most`, 0 if it is missing or empty; raises RequestError (400)."""
    value = fields.get(name)
    if value in _EMPTY:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(most)):
        value = int(value)
    if type(value) is not int or not 0 <= value <= most:
        raise RequestError(400, f"{name} must be a whole number from 0 to {most}")
    return value


def flag_field(fields: Mapping[str, object], name: str) -> bool:
    """Return a field with a truth value, False if it is missing or empty; raises RequestError (400)."""
    value = fields.get(name)
    if value in _EMPTY:
        return False
    if isinstance(value, str) and value.lower() in ("true", "false", "1", "0"):
        value = value.lower() in ("true", "1")
    if type(value) is int and value in (0, 1):
        value = bool(value)
    if not isinstance(value, bool):
        raise RequestError(400, f"{name} must be true or false")
    return value


def file_field(fields: Mapping[str, object]) -> UploadedFile:
    """Return the file of a form; raises RequestError (400) if there is none."""
    value = fields.get(FILE)
    if not isinstance(value, UploadedFile):
        raise RequestError(400, "file is missing: send a form of type multipart/form-data with a file")
    return value
