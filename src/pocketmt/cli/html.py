"""Translation of an HTML document by `pocketmt translate`."""

from collections.abc import Iterator
from gzip import GzipFile
from typing import TYPE_CHECKING, BinaryIO

import click

from pocketmt.cli.search import SearchChoices

if TYPE_CHECKING:
    from pocketmt.engine import TranslationChecks, Translator
    from pocketmt.engine.options import TranslationOptions
    from pocketmt.markup.document import HtmlDocument


def check_search(format_name: str, search: SearchChoices, device: str) -> None:
    """Raise click.UsageError for options that do not go with HTML, if that is the format."""
    from pocketmt.engine.devices import NATIVE, choose_device

    if format_name != "html":
        return
    if "target_prefix" in search.options:
        raise click.UsageError("--prefix does not go with --format html.")
    if choose_device(device) != NATIVE:
        raise click.UsageError("--format html needs --device cpu: PyTorch has no alignment, by which tags are placed.")


def open_html(
    stream: "BinaryIO | GzipFile", name: str, translator: "Translator", search: SearchChoices
) -> "HtmlDocument":
    """Return the document that a stream holds; raises DataError if it is not in its encoding."""
    from pocketmt.markup.document import HtmlDocument
    from pocketmt.markup.encoding import read_document
    from pocketmt.text.language_tags import primary_subtag

    text, encoding = read_document(stream.read(), name)
    language = primary_subtag(search.languages(translator)[0])
    return HtmlDocument(text, language, split=_splits(translator, search), encoding=encoding)


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
