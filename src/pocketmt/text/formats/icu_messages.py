"""ICU messages with forms for numbers or cases, as complete sentences to translate.

"You have {n, plural, one {# day} other {# days}} left." has the sentences "You have {n} day left." and "You have {n}
days left.". Their translations are written as the forms of one message, which is how ICU recommends messages.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_FORMS: Final = re.compile(r"\{\s*([\w.]+)\s*,\s*(plural|selectordinal|select)\s*,")
_SELECTOR: Final = re.compile(r"\s*(=\d+|[^\s{}=,:#']+)\s*\{")
_END: Final = re.compile(r"\s*\}")
_QUOTE: Final = re.compile(r"'[{}#|]")  # An apostrophe that lets a sign stand for itself.
_SIGN: Final = re.compile(r"[{}#]")
_DEPTH: Final = {"{": 1, "}": -1, "#": 0}
_MOST_SENTENCES: Final = 64


@dataclass(frozen=True)
class Forms:
    """A message with forms.

    Attributes:
        argument: name of the number or case.
        kind: plural, selectordinal or select.
        messages: by selector, such as "one" or "=0".
    """

    argument: str
    kind: str
    messages: "dict[str, Forms | str]"

    def sentences(self) -> Iterator[str]:
        """Yield the sentences of all forms, in order."""
        for message in self.messages.values():
            if isinstance(message, str):
                yield message
            else:
                yield from message.sentences()

    def written(self, sentences: Iterator[str]) -> str:
        """Return the message with other sentences, of which it takes as many as `sentences` yields."""
        forms = (
            f"{selector} {{{next(sentences) if isinstance(message, str) else message.written(sentences)}}}"
            for selector, message in self.messages.items()
        )
        return f"{{{self.argument}, {self.kind}, {' '.join(forms)}}}"


def has_forms(text: str) -> bool:
    """Whether a text is an ICU message with forms for numbers or cases."""
    return _FORMS.search(text) is not None


def read_forms(text: str) -> Forms | None:
    """Return the forms of a message; None if it cannot be divided into sentences.

    That is so if it is not well formed, has signs between apostrophes, an offset, or too many forms.
    """
    if _QUOTE.search(text):
        return None
    forms = _forms(text, None, _MOST_SENTENCES)
    return forms if isinstance(forms, Forms) else None


def _forms(text: str, number: str | None, most: int) -> Forms | str | None:
    """Return the forms of a message, or itself if it has none; None: it has more than `most`, or is not well formed.

    `number` is the argument that "#" stands for.
    """
    start = _FORMS.search(text)
    if start is None:
        return text if [depth for _, _, depth in _signs(text, 0)][-1:] in ([], [0]) else None
    argument, kind = start.groups()
    read = _read_messages(text, start.end())
    if read is None or not 0 < len(read[0]) <= most:
        return None
    messages, end = read
    before, after = text[: start.start()], text[end:]
    number = number if kind == "select" else argument
    found: dict[str, Forms | str] = {}
    for selector, message in messages:
        sentence = before + _with_number(message, number) + after
        # Even forms with one message count, so that the depth has a bound.
        forms = None if selector in found else _forms(sentence, number, most // max(2, len(messages)))
        if forms is None:
            return None
        found[selector] = forms
    return Forms(argument, kind, found)


def _read_messages(text: str, place: int) -> tuple[Sequence[tuple[str, str]], int] | None:
    """Return selectors with their messages, and where the forms end; None if they are not well formed."""
    messages = []
    while (selector := _SELECTOR.match(text, place)) is not None:
        start = selector.end()
        end = next((at for sign, at, depth in _signs(text, start) if depth < 0), None)
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


def _with_number(message: str, number: str | None) -> str:
    """Return a message with the argument `number` in place of "#", except within braces."""
    parts, end = list[str](), 0
    for sign, at, depth in _signs(message, 0) if number is not None else ():
        if sign == "#" and depth == 0:
            parts += [message[end:at], f"{{{number}}}"]
            end = at + 1
    return "".join([*parts, message[end:]])
