"""Texts of different clients, no two of which have a sentence in common, and their right translations."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MODELS: Final = ("captions-en-de", "captions-en-de-8bit")
SENTENCES_OF_CLIENT: Final = 60
SENTENCES_OF_LIST: Final = 10
SENTENCES_OF_LINE: Final = 3
LINES_OF_DOCUMENT: Final = 10
BLOCKS_OF_PAGE: Final = 12
CHARACTERS_OF_BOOK: Final = 90_000
SCRIPT: Final = "<script>let a = '<p>A man.</p>';</script>"
_TAGS_OF_BLOCK: Final = re.compile(r"<p>(.*?)</p>", re.DOTALL)


@dataclass(frozen=True)
class Text:
    """What a client sends as q, and how its answer is compared.

    Attributes:
        q: text or list of texts.
        lines: what `pocketmt translate` has to translate.
        read: returns the translated lines of an answer; raises ValueError if it is not of the form of the text.
    """

    q: str | list[str]
    lines: tuple[str, ...]
    read: Callable[[object], list[str]]


def sentences_of(sentences: Sequence[str], client: int) -> list[str]:
    """Return the sentences of one client."""
    return list(sentences[client * SENTENCES_OF_CLIENT : (client + 1) * SENTENCES_OF_CLIENT])


def single(sentences: Sequence[str]) -> list[Text]:
    """Return a text for each sentence."""
    return [Text(sentence, (sentence,), _one_line) for sentence in sentences]


def lists(sentences: Sequence[str]) -> list[Text]:
    """Return lists of sentences."""
    return [Text(chosen, tuple(chosen), _list) for chosen in _windows(sentences, SENTENCES_OF_LIST)]


def documents(sentences: Sequence[str]) -> list[Text]:
    """Return texts of several lines, with empty ones between, each of several sentences."""
    found = []
    for chosen in _windows(sentences, SENTENCES_OF_LINE * LINES_OF_DOCUMENT):
        lines = tuple(" ".join(part) for part in _parts(chosen, SENTENCES_OF_LINE))
        found.append(Text("\n\n".join(lines), lines, _paragraphs))
    return found


def books(sentences: Sequence[str]) -> list[Text]:
    """Return one text of about as many characters as a request may have."""
    lines = [" ".join(part) for part in _parts(sentences, SENTENCES_OF_LINE)]
    times = CHARACTERS_OF_BOOK // (sum(map(len, lines)) + 2 * len(lines))
    return [Text("\n\n".join(lines * times), tuple(lines * times), _paragraphs)]


def web_pages(sentences: Sequence[str]) -> list[Text]:
    """Return HTML of some blocks, with a tag around a word in each second one, and a script."""
    found = []
    for chosen in _windows(sentences, BLOCKS_OF_PAGE):
        blocks = []
        for number, sentence in enumerate(chosen):
            first, second, *others = html.escape(sentence, quote=False).split(" ")
            blocks.append(" ".join([first, f"<b>{second}</b>" if number % 2 else second, *others]))
        markup = SCRIPT + "".join(f"<p>{block}</p>" for block in blocks)
        found.append(Text(markup, tuple(chosen), _blocks))
    return found


def typed(sentences: Sequence[str]) -> list[Text]:
    """Return texts as the page sends them while somebody types: the beginnings of sentences."""
    found = []
    for sentence in sentences:
        words = sentence.split()
        for count in (len(words) // 3, 2 * len(words) // 3, len(words)):
            found += single([" ".join(words[: max(1, count)])])
    return found


def _windows(sentences: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(sentences) - size + 1, max(1, size // 2)):
        yield list(sentences[start : start + size])


def _parts(sentences: Sequence[str], size: int) -> list[Sequence[str]]:
    return [sentences[start : start + size] for start in range(0, len(sentences), size)]


def _one_line(answer: object) -> list[str]:
    return [str(answer)]


def _list(answer: object) -> list[str]:
    if not isinstance(answer, list):
        raise ValueError("not a list")
    return [str(each) for each in answer]


def _paragraphs(answer: object) -> list[str]:
    return str(answer).split("\n\n")


def _blocks(answer: object) -> list[str]:
    markup = str(answer)
    if not markup.startswith(SCRIPT) or markup.count("<b>") != markup.count("</b>") or "<b>" not in markup:
        raise ValueError("the script or the tags differ")
    found = _TAGS_OF_BLOCK.findall(markup[len(SCRIPT) :])
    return [html.unescape(re.sub("</?b>", "", block)) for block in found]


class Judge:
    """Says whether an answer is right.

    Args:
        expected: line -> its translation by each model.
    """

    def __init__(self, expected: dict[str, tuple[str, ...]]) -> None:
        self._expected = expected
        self._sources = {each: line for line, translations in expected.items() for each in translations}

    def judge(self, text: Text, answer: object) -> tuple[str, frozenset[int]]:
        """Return "right", "mixed" (each line by one of the models), "crossed" (a line of somebody else) or "wrong".

        The second value has the models whose translation it is.
        """
        try:
            lines = text.read(answer)
        except ValueError:
            return "wrong", frozenset()
        wanted = [self._expected[line] for line in text.lines]
        if len(lines) != len(wanted):
            return "wrong", frozenset()
        models = [
            model
            for model in range(len(MODELS))
            if all(line == each[model] for line, each in zip(lines, wanted, strict=True))
        ]
        if models:
            return "right", frozenset(models)
        strange = [line for line, each in zip(lines, wanted, strict=True) if line not in each]
        if not strange:
            return "mixed", frozenset()
        return ("crossed" if any(line in self._sources for line in strange) else "wrong"), frozenset()

    def leaks(self, content: str) -> bool:
        """Whether a text or a translation of a client is in an answer or in a log."""
        return any(len(line) > 30 and line in content for line in (*self._expected, *self._sources))
