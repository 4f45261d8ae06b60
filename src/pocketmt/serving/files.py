"""Files that clients send to be translated, and translated files that wait to be downloaded."""

import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pocketmt.errors import DataError
from pocketmt.markup.encoding import HTML_SUFFIXES, read_document
from pocketmt.serving.errors import RequestError
from pocketmt.text.formats import json_values, subtitles
from pocketmt.text.formats.format import Unit

_SUBTITLES: Final = (".srt", ".vtt")
_JSON: Final = (".json", ".arb")
KINDS: Final = (".txt", *HTML_SUFFIXES, *_SUBTITLES, *_JSON)
MOST_BYTES: Final = 64 << 20  # of all translated files, with their names
SECONDS_KEPT: Final = 600.0
_LONGEST_NAME: Final = 80  # characters
_TOKEN_BYTES: Final = 16
_BYTES_OF_ENTRY: Final = 500  # of a file in memory, beside its name and content


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file in a form."""

    name: str
    content: bytes

    @property
    def suffix(self) -> str:
        """The end of the name, from its last point on, in lower case; "" if it has none."""
        return self.name[self.name.rfind(".") :].lower() if "." in self.name else ""

    @property
    def is_html(self) -> bool:
        """Whether the file is HTML."""
        return self.suffix in HTML_SUFFIXES

    def units(self, text: str) -> list[Unit] | None:
        """Return what is translated of the file's text; None: the whole text.

        Raises RequestError (400) if it is not of the kind that the name says.
        """
        try:
            if self.suffix in _SUBTITLES:
                return list(subtitles.read_units([text.encode()], self.name))
            if self.suffix in _JSON:
                return list(json_values.read_units([text.encode()], self.name))
        except DataError as error:
            raise RequestError(400, str(error)) from error
        return None

    def text(self) -> str:
        """Return the content; raises RequestError (400) for the wrong encoding, or a kind that is not supported.

        HTML is read as browsers read it; other files are in UTF-8.
        """
        if self.suffix not in KINDS:
            names = " or ".join((", ".join(KINDS[:-1]), KINDS[-1]))
            raise RequestError(400, f"files of this kind are not supported: send one that ends in {names}")
        try:
            if self.is_html:
                return read_document(self.content, self.name)[0]
            return self.content.decode("utf-8-sig" if self.suffix == ".txt" else "utf-8")
        except UnicodeDecodeError as error:
            raise RequestError(400, f"the file is not UTF-8 at byte {error.start}: convert it") from error
        except DataError as error:
            raise RequestError(400, str(error)) from error

    def translated(self, units: Sequence[Unit] | None, translation: str) -> bytes:
        """Return the content of the translated file, from the translation of its text or of its units' lines."""
        if self.is_html:
            encoding = read_document(self.content, self.name)[1]
            return encoding.mark + encoding.encode(translation)
        if units is None:
            return translation.encode("utf-8", "replace")
        lines = iter(translation.split("\n"))
        texts = ("\n".join(islice(lines, len(unit.lines))) for unit in units)
        return b"".join(unit.before + unit.encode(text) + unit.after for unit, text in zip(units, texts, strict=True))

    def translated_name(self, target: str) -> str:
        """Return a name for the translation, of characters that are safe in an address and in a header.

        Args:
            target: code of the language of the translation, as the model file has it.
        """
        stem = _safe(self.name[: len(self.name) - len(self.suffix)])
        return f"{stem or 'file'}_{_safe(target)}{self.suffix}"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[-_LONGEST_NAME:]


class TranslatedFiles:
    """Translated files in memory, each under a name that cannot be guessed.

    A file is forgotten after SECONDS_KEPT seconds, and the oldest ones when all have more than MOST_BYTES bytes.
    """

    def __init__(self) -> None:
        self._files: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._bytes = 0

    def keep(self, name: str, content: bytes) -> str:
        """Keep a file; returns the name under which it is found."""
        key = f"{secrets.token_urlsafe(_TOKEN_BYTES)}.{name}"
        self._forget(_size(key, content))
        self._files[key] = time.monotonic(), content
        self._bytes += _size(key, content)
        return key

    def find(self, key: str) -> bytes | None:
        """Return a file; None: it is unknown, or was forgotten."""
        self._forget(0)
        found = self._files.get(key)
        return None if found is None else found[1]

    def _forget(self, needed: int) -> None:
        now = time.monotonic()
        while self._files:
            key, (kept, content) = next(iter(self._files.items()))
            if now - kept < SECONDS_KEPT and self._bytes + needed <= MOST_BYTES:
                return
            del self._files[key]
            self._bytes -= _size(key, content)


def _size(key: str, content: bytes) -> int:
    return len(key) + len(content) + _BYTES_OF_ENTRY
