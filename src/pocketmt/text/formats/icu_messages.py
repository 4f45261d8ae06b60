"""ICU messages with forms for numbers or cases, as complete sentences to translate.

"You have {n, plural, one {# day} other {# days}} left." has the sentences "You have {n} day left." and "You have {n}
days left.". Their translations are written as the forms of one message, as ICU recommends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_FORMS: Final = re.compile(r"\{\s*([\w.]+)\s*,\s*(plural|selectordinal|select|choice)\s*,")
_ARGUMENT: Final = re.compile(r"\{\s*([\w.]+)\s*\}")
_SELECTOR: Final = re.compile(r"\s*(=\d+|[^\s{}=,:#']+)\s*\{")
_END: Final = re.compile(r"\s*\}")
# An odd number of apostrophes lets the sign after them stand for itself.
_QUOTE: Final = re.compile(r"(?<!')(?:'')*'[{}#|]")
_APOSTROPHE: Final = re.compile(r"(?<!')'(?=[{}#|])")
_SIGN: Final = re.compile(r"[{}#]")
_DEPTH: Final = {"{": 1, "}": -1, "#": 0}
_MOST_SENTENCES: Final = 64


@dataclass(frozen=True)
class _Forms:
    """The forms of one argument, a number or a case: their messages by selector, such as "one" or "=0"."""

    argument: str
    kind: str
    messages: "dict[str, _Forms | str]"

    def sentences(self) -> Iterator[str]:
        for message in self.messages.values():
            if isinstance(message, str):
                yield message
            else:
                yield from message.sentences()

    def written(self, sentences: Iterator[str], numbers: frozenset[str], number: str | None = None) -> str:
        number = number if self.kind == "select" else self.argument
        shown = f"{{{number}}}"
        forms = []
        for selector, message in self.messages.items():
            if isinstance(message, _Forms):
                form = message.written(sentences, numbers, number)
            else:
                form = next(sentences).replace(shown, "#" if number in numbers else shown)
            forms.append(f"{selector} {{{form}}}")
        return f"{{{self.argument}, {self.kind}, {' '.join(forms)}}}"


@dataclass(frozen=True)
class Message:
    """A message with forms.

    Attributes:
        sentences: of all forms, in order, with "{n}" or "{n, number}" in place of "#".
    """

    sentences: list[str]
    _forms: _Forms
    _numbers: frozenset[str]  # that only "#" stands for

    def written(self, sentences: Sequence[str]) -> str | None:
        """Return the message with other sentences; None if their braces do not match."""
        given = [_APOSTROPHE.sub("''", sentence) for sentence in sentences]
        whole = self._forms.written(iter(given), self._numbers)
        found = read_message(whole)
        return whole if found is not None and found.sentences == given else None


def has_forms(text: str) -> bool:
    """Whether a text is an ICU message with forms for numbers or cases."""
    return _FORMS.search(text) is not None


def read_message(text: str) -> Message | None:
    """Return a message with forms; None if it has none, or cannot be divided into sentences.

    That is so if it is not well formed, has signs between apostrophes, an offset, a choice, or too many forms.
    """
    if _QUOTE.search(text):
        return None
    arguments = {match[1] for match in _FORMS.finditer(text) if match[2] != "select"}
    numbers = frozenset(arguments.difference(_ARGUMENT.findall(text)))
    forms = _forms(text, numbers, None, _MOST_SENTENCES)
    return Message(list(forms.sentences()), forms, numbers) if isinstance(forms, _Forms) else None


def _forms(text: str, numbers: frozenset[str], number: str | None, most: int) -> _Forms | str | None:
    """Return the forms of a message, or itself if it has none; None: it has more than `most`, or is not well formed.

    `number` is the argument that "#" stands for.
    """
    start = _FORMS.search(text)
    if start is None:
        return _with_others(text, numbers, number) if _is_balanced(text) else None
    argument, kind = start.groups()
    read = _read_messages(text, start.end())
    if read is None or not 0 < len(read[0]) <= most:
        return None
    messages, end = read
    before, after = text[: start.start()], text[end:]
    number = number if kind == "select" else argument
    found: dict[str, _Forms | str] = {}
    for selector, message in messages:
        sentence = before + _with_number(message, numbers, number) + after
        # Even forms with one message count, so that the depth has a bound.
        forms = None if selector in found else _forms(sentence, numbers, number, most // max(2, len(messages)))
        if forms is None:
            return None
        found[selector] = forms
    return _Forms(argument, kind, found)


def _read_messages(text: str, place: int) -> tuple[Sequence[tuple[str, str]], int] | None:
    """Return selectors with their messages, and where the forms end; None if they are not well formed."""
    messages = []
    while (selector := _SELECTOR.match(text, place)) is not None:
        start = selector.end()
        end = next((at for _, at, depth in _signs(text, start) if depth < 0), None)
        if end is None:
            return None
        messages.append((selector[1], text[start:end]))
        place = end + 1
    last = _END.match(text, place)
    return None if last is None else (messages, last.end())


def _signs(text: str, place: int) -> Iterator[tuple[str, int, int]]:
    """Yield braces and "#", each with its place and with how many braces are open after it, from a place on."""
    depth = 0
    for match in _SIGN.finditer(text, place):
        depth += _DEPTH[match[0]]
        yield match[0], match.start(), depth


def _is_balanced(text: str) -> bool:
    depths = [depth for _, _, depth in _signs(text, 0)]
    return not depths or (min(depths) >= 0 and depths[-1] == 0)


def _with_number(message: str, numbers: frozenset[str], number: str | None) -> str:
    """Return a message with the argument `number` in place of "#", except within braces."""
    parts, end = list[str](), 0
    for sign, at, depth in _signs(message, 0) if number is not None else ():
        if sign == "#" and depth == 0:
            parts += [message[end:at], f"{{{number}}}" if number in numbers else f"{{{number}, number}}"]
            end = at + 1
    return "".join([*parts, message[end:]])


def _with_others(sentence: str, numbers: frozenset[str], number: str | None) -> str:
    """Return a sentence with numbers other than `number` as "#" writes them, in the form of the language."""
    for each in numbers - {number}:
        sentence = sentence.replace(f"{{{each}}}", f"{{{each}, number}}")
    return sentence
