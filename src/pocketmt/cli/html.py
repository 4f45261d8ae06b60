"""Translation of an HTML document by `pocketmt translate`."""

import codecs
import re
from collections.abc import Iterator
from gzip import GzipFile
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from pocketmt.cli.search import SearchChoices
from pocketmt.errors import DataError

if TYPE_CHECKING:
    from pocketmt.engine import TranslationChecks, Translator
    from pocketmt.engine.options import TranslationOptions
    from pocketmt.markup.document import HtmlDocument


_LONGEST_HEAD: Final = 4096  # bytes in which a charset is declared
_WHOLE: Final = re.compile(rb"(?i)<!doctype|<html")
_DECLARATION: Final = re.compile(
    rb"(?i)(?:<meta\s[^>]*?charset\s*=\s*[\"']?|<\?xml\s[^>]*?encoding\s*=\s*[\"'])\s*([\w.:-]+)", re.ASCII
)


def check_search(search: SearchChoices, device: str) -> None:
    """Raise click.UsageError for options that HTML does not go with."""
    from pocketmt.engine.devices import NATIVE, choose_device

    if "target_prefix" in search.options:
        raise click.UsageError("--prefix does not go with --format html.")
    if choose_device(device) != NATIVE:
        raise click.UsageError("--format html needs --device cpu: PyTorch has no alignment, by which tags are placed.")


def open_html(
    stream: "BinaryIO | GzipFile", name: str, translator: "Translator", search: SearchChoices
) -> "HtmlDocument":
    """Return the document that a stream holds; raises DataError if it is not in its encoding."""
    from pocketmt.markup.document import HtmlDocument
    from pocketmt.text.language_tags import primary_subtag

    text, encoding = _decoded(stream.read(), name)
    language = primary_subtag(search.languages(translator)[0])
    return HtmlDocument(text, language, split=_splits(translator, search), encoding=encoding)


def _decoded(content: bytes, name: str) -> tuple[str, str]:
    """Return a document, and the encoding in which browsers read it: the one that it declares, or UTF-8.

    A document in ASCII that does not declare one stays in ASCII, as browsers may not expect UTF-8; a part of a document
    becomes UTF-8.
    """
    found = _DECLARATION.search(content[:_LONGEST_HEAD])
    declared = "utf-8" if found is None else found[1].decode("ascii")
    try:
        encoding = codecs.lookup(declared).name
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except LookupError as error:
        raise DataError(f"{name} declares the charset {declared!r}, which is unknown: save it in UTF-8") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}, line {line}: not {declared} ({error.reason}): save the file in UTF-8") from error
    is_ascii = found is None and content.isascii() and _WHOLE.search(content[:_LONGEST_HEAD])
    return text, "ascii" if is_ascii else encoding


def translate_html(
    document: "HtmlDocument", translator: "Translator", search: SearchChoices, check: "bool | TranslationChecks"
) -> Iterator[tuple[bytes, int]]:
    """Yield the translated document in parts, with the number of sentences of each; see `SearchChoices.translate`."""
    options: TranslationOptions = {**search.options, "check": check}
    options["protect"] = _splits(translator, search)
    options["split"] = False  # They are sentences already.
    chunks = document.chunks(translator.lines_at_once)
    return document.render((chunk, translator.translate_detailed(chunk, **options)) for chunk in chunks)


def _splits(translator: "Translator", search: SearchChoices) -> bool:
    from pocketmt.model_file.manifest import DEFAULT_UNIT

    return search.options.get("split", translator.unit == DEFAULT_UNIT)
