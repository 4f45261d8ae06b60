"""Sentence splitters to compare: PocketMT's rules, a plain pattern, and libraries that are installed."""

import importlib.metadata
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pocketmt.sentences import sentence_spans

Split = Callable[[str], list[str]]
_PLAIN: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


@dataclass(frozen=True)
class Splitter:
    """A way to split text.

    Attributes:
        name: as in the record.
        package: its distribution on PyPI; None: a part of PocketMT.
        make: a language code -> a function that splits a text, or None if it lacks the language.
    """

    name: str
    package: str | None
    make: Callable[[str], Split | None]


def _ours(language: str) -> Split:
    return lambda text: [text[start:end] for start, end in sentence_spans(text, language)]


def _plain(language: str) -> Split:
    return lambda text: [part for part in _PLAIN.split(text) if part]


def _pysbd(language: str) -> Split | None:
    import pysbd  # type: ignore[import-not-found,unused-ignore]
    from pysbd.languages import LANGUAGE_CODES  # type: ignore[import-not-found,unused-ignore]

    if language not in LANGUAGE_CODES:
        return None
    segmenter = pysbd.Segmenter(language=language, clean=False)
    return lambda text: [str(part) for part in segmenter.segment(text)]


def _syntok(language: str) -> Split:
    from syntok import segmenter  # type: ignore[import-not-found,unused-ignore]

    def split(text: str) -> list[str]:
        sentences = (sentence for paragraph in segmenter.process(text) for sentence in paragraph)
        return ["".join(token.spacing + token.value for token in sentence) for sentence in sentences]

    return split


def _segtok(language: str) -> Split:
    from segtok.segmenter import split_multi  # type: ignore[import-not-found,unused-ignore]

    return lambda text: list(split_multi(text))


def _nupunkt(language: str) -> Split:
    import nupunkt  # type: ignore[import-not-found,unused-ignore]

    return lambda text: list(nupunkt.sent_tokenize(text))


def _razdel(language: str) -> Split:
    import razdel  # type: ignore[import-not-found,unused-ignore]

    return lambda text: [part.text for part in razdel.sentenize(text)]


def _blingfire(language: str) -> Split:
    import blingfire  # type: ignore[import-not-found,unused-ignore]

    return lambda text: str(blingfire.text_to_sentences(text)).split("\n")


def _sentencex(language: str) -> Split:
    import sentencex  # type: ignore[import-not-found,unused-ignore]

    return lambda text: list(sentencex.segment(language, text))


def _sentence_splitter(language: str) -> Split | None:
    import sentence_splitter  # type: ignore[import-not-found,unused-ignore]

    try:
        splitter = sentence_splitter.SentenceSplitter(language=language)
    except sentence_splitter.SentenceSplitterException:
        return None
    return lambda text: list(splitter.split(text))


SPLITTERS: Final = (
    Splitter("pocketmt", None, _ours),
    Splitter("plain pattern", None, _plain),
    Splitter("pysbd", "pysbd", _pysbd),
    Splitter("nupunkt", "nupunkt", _nupunkt),
    Splitter("razdel", "razdel", _razdel),
    Splitter("sentencex", "sentencex", _sentencex),
    Splitter("syntok", "syntok", _syntok),
    Splitter("segtok", "segtok", _segtok),
    Splitter("sentence-splitter", "sentence-splitter", _sentence_splitter),
    Splitter("blingfire", "blingfire", _blingfire),
)


def describe(package: str) -> dict[str, Any]:
    """Return version, licence and size of an installed distribution; raises PackageNotFoundError.

    The size is that of its files and of the distributions that it requires, without compiled Python.
    """
    metadata = importlib.metadata.metadata(package)
    stated = [*(metadata.get_all("License-Expression") or []), *(metadata.get_all("License") or [])]
    classifiers = [each for each in metadata.get_all("Classifier") or [] if each.startswith("License ::")]
    licences = [each for each in stated if each != "UNKNOWN"] + [each.rpartition(" :: ")[2] for each in classifiers]
    return {
        "version": metadata["Version"],
        "licence": licences[0].splitlines()[0].removesuffix(" License") if licences else "unknown",
        "bytes": sum(_bytes(each) for each in _with_requirements(package)),
    }


def _with_requirements(package: str) -> set[str]:
    found: set[str] = set()
    remaining = [package]
    while remaining:
        name = remaining.pop()
        if name not in found:
            found.add(name)
            needed = importlib.metadata.requires(name) or []
            remaining += [re.split(r"[^\w.-]", each)[0] for each in needed if "extra ==" not in each]
    return found


def _bytes(package: str) -> int:
    files = importlib.metadata.files(package) or []
    return sum(each.size or 0 for each in files if each.suffix != ".pyc")
