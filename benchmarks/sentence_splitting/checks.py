"""Counts warnings about complete translations: human translations, and those of the bundled models of their `val`.

    python -m benchmarks.sentence_splitting.checks

Training and development text only, and news, which no model here is tested on. The bounds of pocketmt.sentences were
chosen on these human translations. Writes benchmarks/records/translation-checks.json.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from benchmarks.sentence_splitting.joined import validation_text
from pocketmt.engine import Translator, bundled_models
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column
from pocketmt.sentences import lost_parts, number_formats
from pocketmt.sentences.word_count import count_words, is_too_long, is_too_short

RECORD: Final = Path(__file__).parents[1] / "records" / "translation-checks.json"


def main(arguments: Sequence[str]) -> int:
    """Count, write the record, print its rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance()
    rows = [check_row(*each) for each in (*_human(), *_of_models())]
    write_record({"rows": rows, "provenance": origin}, options.output)
    print(markdown_table(rows, [Column.parse(column) for column in rows[0]]))
    return 0


def check_row(
    name: str, languages: tuple[str, str], sources: Sequence[str], translations: Sequence[str]
) -> dict[str, Any]:
    """Return the numbers of suspicious translations in 10,000, by reason, and the time of the checks for a line."""
    formats = number_formats(*languages)
    start = time.perf_counter()
    short = long = lost = 0
    for source, translation in zip(sources, translations, strict=True):
        words, translated = count_words(source), count_words(translation)
        short += is_too_short(words, translated)
        long += is_too_long(words, translated)
        lost += bool(lost_parts(source, translation, formats=formats))
    seconds = time.perf_counter() - start
    scale = 10_000 / len(sources)
    return {
        "text": name,
        "lines": len(sources),
        "too_short": short * scale,
        "too_long": long * scale,
        "lost_parts": lost * scale,
        "microseconds": seconds / len(sources) * 1e6,
    }


def _human() -> Iterator[tuple[str, tuple[str, str], list[str], list[str]]]:
    for folder, name, target in (
        *(("multi30k", "captions", language) for language in ("de", "fr", "cs")),
        *(("tatoeba", "everyday sentences", "de"), ("tatoeba-fr", "everyday sentences", "fr")),
        ("enja", "everyday sentences", "ja"),
    ):
        source, translation = (_lines(corpus(folder) / f"train.{language}") for language in ("en", target))
        if target == "ja":
            translation = [line.replace(" ", "") for line in translation]
        yield f"{name}, en to {target}", ("en", target), source, translation
        yield f"{name}, {target} to en", (target, "en"), translation, source
    english, german = (_news(language) for language in ("en", "de"))
    yield "news, en to de", ("en", "de"), english, german
    yield "news, de to en", ("de", "en"), german, english


def _news(language: str) -> list[str]:
    folder = corpus("newstest")
    return [line for year in range(2014, 2020) for line in _lines(folder / f"newstest{year}.en-de.{language}")]


def _of_models() -> Iterator[tuple[str, tuple[str, str], list[str], list[str]]]:
    for name in bundled_models():
        translator = Translator(name)
        sources = validation_text(name, translator.languages[0])
        yield f"val by {name}", translator.languages, sources, translator.translate(sources, beam_size=4, check=False)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


if __name__ == "__main__":
    sys.exit(run(main))
