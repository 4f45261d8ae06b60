"""Compares sentence splitters: precision and recall of boundaries, speed, size and licence.

    pip install --target build/splitters pysbd nupunkt razdel sentencex syntok segtok sentence-splitter blingfire
    python -m benchmarks.sentence_splitting --packages build/splitters

A library that is not installed is left out, with a message. Writes benchmarks/records/sentence-splitting.json.
The hard cases were written for this comparison, by the author of PocketMT's rules; the other texts were not.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command import run
from benchmarks.markdown import markdown_table
from benchmarks.record_files import write_record
from benchmarks.sentence_splitting.scores import Counts
from benchmarks.sentence_splitting.splitters import SPLITTERS, Split, Splitter, describe
from benchmarks.sentence_splitting.texts import KnownText, known_texts
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column

RECORD: Final = Path(__file__).parents[1] / "records" / "sentence-splitting.json"
ROUNDS: Final = 3
# Column of the summary -> name of a text, and the languages whose mean it shows.
SUMMARY: Final = {
    "captions": ("captions, 10 a line", "en de fr"),
    "news_en": ("news, 5 a line", "en"),
    "news_de": ("news, 5 a line", "de"),
    "everyday_en": ("everyday sentences, 5 a line", "en"),
    "everyday_ja": ("everyday sentences, 5 a line", "ja"),
    "hard_cases": ("hard cases", "en de fr es ru"),
}


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print the scores."""
    options = _options(arguments)
    if options.packages is not None:
        sys.path.append(str(options.packages))
    origin = provenance()
    texts = list(known_texts())
    splitters = list(_available(SPLITTERS))
    rows = [row for text in texts for row in score_rows(text, splitters)]
    record = {
        "libraries": list(_library_rows(splitters, rows, texts)),
        "rows": rows,
        "provenance": origin,
    }
    write_record(record, options.output)
    columns = ("splitter", "text", "language", "precision:.1%", "recall:.1%")
    print(markdown_table(rows, [Column.parse(column) for column in columns]))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, help="folder in which libraries are installed (default: none)")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    return parser.parse_args(arguments)


def _available(splitters: Sequence[Splitter]) -> Iterator[Splitter]:
    for splitter in splitters:
        try:
            splitter.make("en")
        except ImportError as error:
            print(f"{splitter.name} is left out: {error}", file=sys.stderr)
        else:
            yield splitter


def score_rows(text: KnownText, splitters: Sequence[Splitter]) -> Iterator[dict[str, Any]]:
    """Yield a row for each splitter that has the text's language."""
    for splitter in splitters:
        split = splitter.make(text.language)
        if split is None:
            continue
        counts = Counts()
        for sentences in text.lines:
            counts.add(split(text.joined(sentences)), sentences)
        yield {
            "splitter": splitter.name,
            "text": text.name,
            "language": text.language,
            "boundaries": counts.known,
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
        }


def _library_rows(
    splitters: Sequence[Splitter], rows: Sequence[dict[str, Any]], texts: Sequence[KnownText]
) -> Iterator[dict[str, Any]]:
    """Yield what each splitter is, its mean F1 for the texts of `SUMMARY`, and its time compared with ours."""
    english = next(text for text in texts if text.name.startswith("news") and text.language == "en")
    lines = [english.joined(sentences) for sentences in english.lines]
    times = {splitter.name: _seconds(splitter.make("en"), lines) for splitter in splitters}
    for splitter in splitters:
        scores = [row for row in rows if row["splitter"] == splitter.name]
        package = {} if splitter.package is None else describe(splitter.package)
        yield {
            "splitter": splitter.name,
            "version": package.get("version", ""),
            "licence": package.get("licence", ""),
            "bytes": package.get("bytes", 0),
            "f1": {name: _mean_f1(scores, *chosen) for name, chosen in SUMMARY.items()},
            "time": times[splitter.name] / times["pocketmt"],
        }


def _seconds(split: Split | None, lines: Sequence[str]) -> float:
    assert split is not None
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for line in lines:
            split(line)
        best = min(best, time.perf_counter() - start)
    return best


def _mean_f1(scores: Sequence[dict[str, Any]], text: str, languages: str) -> float | None:
    """Return the mean over languages; None if the splitter lacks one."""
    wanted = languages.split()
    found = [row["f1"] for row in scores if row["text"] == text and row["language"] in wanted]
    return sum(found) / len(found) if len(found) == len(wanted) else None


if __name__ == "__main__":
    sys.exit(run(main))
