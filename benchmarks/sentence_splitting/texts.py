"""Texts whose sentence boundaries are known: lines of corpora joined, and hard cases written by hand."""

import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.data import corpus

HARD_CASES: Final = Path(__file__).with_name("hard_cases.toml")
_FINAL: Final = (".", "!", "?", "…", "。", "！", "？", '."', '!"', '?"', ".”", "?”", "!”", ".“", "?“", "!“")
_MOST_LINES: Final = 3000  # of a corpus


@dataclass(frozen=True)
class KnownText:
    """Lines of text in one language, each a list of its sentences, which are joined by `separator`."""

    name: str
    language: str
    lines: list[list[str]]
    separator: str = " "

    def joined(self, sentences: Sequence[str]) -> str:
        """Return a line of text."""
        return self.separator.join(sentences)


def known_texts() -> Iterator[KnownText]:
    """Yield all texts; DataError if a corpus is missing."""
    captions = corpus("multi30k")
    for language in ("en", "de", "fr", "cs"):
        lines = _complete(captions / f"val.{language}")
        for size in (2, 5, 10):
            yield KnownText(f"captions, {size} a line", language, _groups(lines, size))
    for language in ("en", "de"):
        news = [line for year in range(2014, 2020) for line in _complete(_news(year, language))]
        yield KnownText("news, 5 a line", language, _groups(random.Random(1).sample(news, _MOST_LINES), 5))
    yield KnownText("everyday sentences, 5 a line", "en", _groups(_complete(corpus("tatoeba") / "val.en"), 5))
    japanese = [line.replace(" ", "") for line in _complete(corpus("enja") / "train.ja")[:_MOST_LINES]]
    yield KnownText("everyday sentences, 5 a line", "ja", _groups(japanese, 5), "")
    for language, cases in tomllib.loads(HARD_CASES.read_text(encoding="utf-8")).items():
        marked = [[part.strip() for part in case.split("|")] for case in cases["lines"]]
        yield KnownText("hard cases", language, marked, cases.get("separator", " "))


def _complete(path: Path) -> list[str]:
    """Return the lines of a file that end as a sentence does."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").split("\n"))
    return [line for line in lines if line.endswith(_FINAL)]


def _news(year: int, language: str) -> Path:
    return corpus("newstest") / f"newstest{year}.en-de.{language}"


def _groups(lines: Sequence[str], size: int) -> list[list[str]]:
    return [list(lines[start : start + size]) for start in range(0, len(lines) - size + 1, size)]
