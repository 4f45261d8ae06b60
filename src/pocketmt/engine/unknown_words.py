"""Words that a vocabulary lacks: with unknown characters, acronyms, and words in capitals for stress."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from pocketmt.sentences.protected import Part, protected_matches
from pocketmt.sentences.scripts import WITHOUT_SPACES
from pocketmt.text.letter_case import in_lower_case
from pocketmt.text.vocabulary import Vocabulary

_LEAST_PIECES: Final = 0.75  # of a character, on average, where a vocabulary spells words by letters
_LEAST_STRESSED: Final = 3  # letters of a word in capitals for stress: "US" and "IT" are acronyms
_LETTER: Final = rf"[^\W_{WITHOUT_SPACES}]"
# A word between backquotes or brackets, two names with "&" between them, or a word such as "R&D" or "C++".
_WORD: Final = re.compile(
    rf"`[^`\s]+`|\[[^\[\]\s]+\]|(?P<names>{_LETTER}+ & {_LETTER}+)|(?P<plain>{_LETTER}+(?:&{_LETTER}+)*[+#]*)"
)
_PLAIN_WORD: Final = re.compile(r"\w+")
_MAY_BE_UNKNOWN: Final = re.compile(r"[^a-z0-9 .,!?'-][^a-z .,!?'-]|[^\x00-\x7f]|[`\[&+#]")
_FIRST_LETTER: Final = re.compile(r"[^\W_]")
_LATIN: Final = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_TWO_CAPITALS: Final = re.compile("[A-Z\u00c0-\u00de]{2}")
_ROMAN_NUMERAL: Final = re.compile("[IVX]+")
_AFTER_NUMBER: Final = re.compile(r"\d[ \u00a0]?$")


class UnknownWords:
    """Finds the words of a text that the vocabulary of the source lacks."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._unknown: dict[str, bool] = {}  # by character
        self._frequent: set[str] | None = None  # characters of the pieces that have several

    def respelled(self, text: str, language: str) -> str:
        """Return a text whose unknown words have another spelling where the vocabulary has that as one piece.

        It is lower case for words of at least three capitals in other text, as in "This is VERY important", and no
        accents for words with unknown characters, as in "naïve". `language` is the code of the source.
        """
        if not _MAY_BE_UNKNOWN.search(text) or text.isupper():
            return text
        return "".join(
            self._other_spelling(part, language) or part[0] if isinstance(part, re.Match) else part
            for part in _words_and_text(text)
        )

    def find(self, text: str, language: str) -> list[Part]:
        """Return the words of a text with unknown characters, and its acronyms for which there are only letters.

        A name with Latin letters that occur in no longer piece counts as unknown, too, and names beside an unknown word
        that are no pieces belong to it, as in "São Paulo".

        Words that `respelled` changes are left out, and so are words of scripts without spaces, acronyms of a text in
        capitals or after a number, as in "5 PM", and Roman numerals.
        """
        if not _MAY_BE_UNKNOWN.search(text):
            return []
        in_capitals = text.isupper()
        parts: list[Part] = []
        names: list[tuple[re.Match[str], bool]] = []  # with whether each is unknown
        for match in _words(text):
            if match["plain"] is not None and self._is_unknown_name(match[0]):
                if self._other_spelling(match, language) is None:
                    names.append((match, True))
            elif self._is_unknown(match, in_capitals=in_capitals):
                if self._other_spelling(match, language) is None:
                    parts.append(Part(match.start(), match[0]))
            elif self._is_beside_names(match):
                names.append((match, False))
        parts += [Part(run[0].start(), text[run[0].start() : run[-1].end()]) for run in _runs(text, names)]
        return sorted(parts)

    def is_lost(self, text: str, translation: str, language: str) -> bool:
        """Whether a translation lacks a word that `find` finds in its source.

        Case and accents do not count: "Osaka" may stand for "Ōsaka". Acronyms may be translated in words, as "ATM"
        often is; they are lost if the translation has other capitals.
        """
        parts = self.find(text, language)
        if not parts:
            return False
        has_other_capitals = not _with_capitals(translation) <= _with_capitals(text)
        found = _folded(translation)
        lost = (part.text for part in parts if _folded(part.text) not in found)
        return any(has_other_capitals or not self._is_acronym(word) for word in lost)

    def _is_unknown(self, match: re.Match[str], *, in_capitals: bool) -> bool:
        if match["plain"] is None:
            names = match[0].split(" & ") if match["names"] is not None else []
            return all(name[0].isupper() for name in names) and any(map(self._is_unknown_character, match[0]))
        if match[0][-1] in "+#":
            return True
        before = match.string[max(match.start() - 2, 0) : match.start()]
        return not in_capitals and not _AFTER_NUMBER.search(before) and self._is_spelled_capitals(match[0])

    def _is_acronym(self, word: str) -> bool:
        return self._is_spelled_capitals(word) and not any(map(self._is_unknown_character, word))

    def _is_unknown_name(self, word: str) -> bool:
        return any(map(self._is_unknown_character, word)) or (word[0].isupper() and any(map(self._is_rare, word)))

    def _is_beside_names(self, match: re.Match[str]) -> bool:
        """Whether a word may belong to a name: it has a capital, does not begin the text, and is no piece."""
        return (
            match["plain"] is not None and match[0][0].isupper() and not _begins(match) and not self._is_piece(match[0])
        )

    def _is_rare(self, character: str) -> bool:
        """Whether a letter beyond ASCII is in no longer piece, so that it hardly occurred in the training text."""
        if self._frequent is None:
            pieces = self._vocabulary.pieces(range(len(self._vocabulary)))
            self._frequent = set("".join(piece for piece in pieces if len(piece) > 1))
        return _LATIN.fullmatch(character) is not None and character not in self._frequent

    def _other_spelling(self, match: re.Match[str], language: str) -> str | None:
        word = match[0]
        if match["plain"] is None:
            return None
        others = []
        if len(word) >= _LEAST_STRESSED and self._is_spelled_capitals(word):
            lower = in_lower_case(word, language)
            others = [word[0] + lower[1:], lower] if _begins(match) else [lower]
        elif any(map(self._is_unknown_character, word)):
            others = [_without_accents(word)]
        return next(filter(self._is_piece, others), None)

    def _is_piece(self, word: str) -> bool:
        ids = self._vocabulary.encode(word)
        return len(ids) == 1 and ids[0] != self._vocabulary.ids.unk

    def _is_spelled_capitals(self, word: str) -> bool:
        """Whether a word is in capitals, for which the vocabulary has hardly more than single letters."""
        return (
            sum(map(str.isupper, word)) > 1
            and not any(map(str.islower, word))
            and not _ROMAN_NUMERAL.fullmatch(word)
            and len(self._vocabulary.encode(word)) >= _LEAST_PIECES * len(word)
        )

    def _is_unknown_character(self, character: str) -> bool:
        if character.isspace():
            return False
        if character not in self._unknown:
            self._unknown[character] = self._vocabulary.ids.unk in self._vocabulary.encode(character)
        return self._unknown[character]


def _words(text: str) -> Iterator[re.Match[str]]:
    """Yield the words of a text that are in none of its URLs, tags and placeholders."""
    kept = [match.span() for match in protected_matches(text)]
    for match in _WORD.finditer(text):
        while kept and kept[0][1] <= match.start():
            del kept[0]
        if not kept or match.end() <= kept[0][0]:
            yield match


def _words_and_text(text: str) -> Iterator[re.Match[str] | str]:
    """Yield the words of a text, and the text between them."""
    end = 0
    for match in _words(text):
        yield text[end : match.start()]
        yield match
        end = match.end()
    yield text[end:]


def _with_capitals(text: str) -> set[str]:
    """Return the words of a text in which a capital follows another."""
    return {word for word in _PLAIN_WORD.findall(text) if _TWO_CAPITALS.search(word)}


def _without_accents(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", text) if unicodedata.category(each) != "Mn")


def _folded(text: str) -> str:
    """Return a text in which neither case nor accents count."""
    return _without_accents(text).lower()


def _begins(match: re.Match[str]) -> bool:
    first = _FIRST_LETTER.search(match.string)
    return first is not None and match.start() == first.start()


def _runs(text: str, names: Iterable[tuple[re.Match[str], bool]]) -> Iterator[list[re.Match[str]]]:
    """Yield the longest sequences of names with a space between them, of those that have an unknown one."""
    runs: list[list[tuple[re.Match[str], bool]]] = []
    for match, unknown in names:
        if runs and text[runs[-1][-1][0].end() : match.start()] == " ":
            runs[-1].append((match, unknown))
        else:
            runs.append([(match, unknown)])
    for run in runs:
        if any(unknown for _, unknown in run):
            yield [match for match, _ in run]
