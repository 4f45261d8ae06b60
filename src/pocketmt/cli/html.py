"""Translation of an HTML document by `pocketmt translate`."""

from collections.abc import Iterator
from gzip import GzipFile
from typing import TYPE_CHECKING, BinaryIO

import click

from pocketmt.cli.search import SearchChoices
from pocketmt.errors import DataError

if TYPE_CHECKING:
    from pocketmt.engine import TranslationChecks, Translator
    from pocketmt.engine.options import TranslationOptions
    from pocketmt.markup.document import HtmlDocument


def check_search(search: SearchChoices, device: str) -> None:
    """Raise click.UsageError for options that HTML does not go with."""
    from pocketmt.engine.devices import NATIVE

    if "target_prefix" in search.options:
        raise click.UsageError("--prefix does not go with --format html.")
    if device != NATIVE:
        raise click.UsageError("--format html needs --device cpu: PyTorch has no alignment, by which tags are placed.")


def open_html(
    stream: "BinaryIO | GzipFile", name: str, translator: "Translator", search: SearchChoices
) -> "HtmlDocument":
    """Return the document that a stream holds; raises DataError if it is not UTF-8."""
    from pocketmt.markup.document import HtmlDocument
    from pocketmt.text.language_tags import primary_subtag

    try:
        text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 at byte {error.start} ({error.reason}): convert the file first") from error
    language = primary_subtag(search.languages(translator)[0])
    return HtmlDocument(text, language, split=_splits(translator, search))


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
