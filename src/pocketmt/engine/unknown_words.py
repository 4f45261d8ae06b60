"""Words that a vocabulary lacks: with unknown characters, acronyms, and words in capitals for stress."""

import re
from collections.abc import Iterator
from typing import Final

from pocketmt.engine.frequent_characters import frequent_characters
from pocketmt.engine.names import Names
from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.protected import Part, apart, unprotected
from pocketmt.sentences.scripts import WITHOUT_SPACES
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.letter_case import folded, in_lower_case, without_accents
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.text.word_filter import WordFilter

_LEAST_PIECES: Final = 0.75  # of a character, on average, where a vocabulary spells words by letters
_UNKNOWN_SHARE: Final = 0.8  # of the letters of a text in an unknown script
_LONGEST_ACRONYM: Final = 5  # letters of one that is a whole text
# Acronyms that are words in lower case.
_ACRONYMS: Final = frozenset(("ACT", "AIDS", "AM", "CAT", "ICE", "IT", "MIT", "PM", "SAT", "US", "WHO"))
# Words with a known part, such as "Eiscrème", are no names there.
_WITH_COMPOUNDS: Final = ("de", "lb")
_SHORTEST_PART: Final = 4  # characters, with that of the space
_LETTER: Final = rf"[^\W_{WITHOUT_SPACES}]"
# A word between backquotes or brackets, a name such as "C++", letters of scripts without spaces, or a word such as
# "Tom" or "R&D".
_WORD: Final = lazy_pattern(
    rf"`[^`\s]+`|\[[^\[\]\s]+\]|(?P<sign>(?<!\w)[A-Za-z][+#]{{1,2}}(?![\w+#]))|(?P<unspaced>[{WITHOUT_SPACES}]+)"
    rf"|(?P<plain>{_LETTER}+(?:&{_LETTER}+)*)"
)
# Marks of Markdown within a line, such as those of **this**.
_EMPHASIS: Final = lazy_pattern(
    r"(?<![\w*~])(?P<mark>\*{1,3}|~{1,2}|_)(?=[^\s*~_])(?P<text>[^*~_]*[^\s*~_])(?P=mark)(?![\w*~])"
)
_PLAIN_WORD: Final = lazy_pattern(r"\w+")
_MAY_BE_UNKNOWN: Final = lazy_pattern(r"[A-Z\u00c0-\u00de][A-Z0-9\u00c0-\u00de]|[`\[&+#]")
_FIRST_LETTER: Final = lazy_pattern(r"[^\W_]")
_LATIN: Final = lazy_pattern("[\u00c0-\u024f\u1e00-\u1eff]")
_TWO_CAPITALS: Final = lazy_pattern("[A-Z\u00c0-\u00de]{2}")
_ROMAN_NUMERAL: Final = lazy_pattern("[IVX]+")
_AFTER_NUMBER: Final = lazy_pattern(r"\d[ \u00a0]?$")
_AND: Final = {
    **{"cs": "a", "da": "og", "de": "und", "en": "and", "es": "y", "fi": "ja", "fr": "et", "hu": "és", "it": "e"},
    **{"nl": "en", "no": "og", "pl": "i", "pt": "e", "ro": "și", "ru": "и", "sv": "och", "tr": "ve", "uk": "і"},
}


class UnknownWords:
    """Finds the words of a text that a model does not know. Languages are codes of the source.

    Args:
        vocabulary: of the source.
        known: words that the model translates, in lower case; None: the model file has none.
    """

    def __init__(self, vocabulary: Vocabulary, known: WordFilter | None = None) -> None:
        self._vocabulary = vocabulary
        self._names = None if known is None else Names(known)
        self._usual: set[str] = set()  # characters that are neither unknown nor rare, of those looked at
        self._unknown: dict[str, bool] = {}  # by character
        self._frequent: frozenset[str] | None = None

    def respelled(self, text: str, language: str, *, stress: bool = True) -> str:
        """Return a text whose unknown words have another spelling where the vocabulary has that as one piece.

        It is lower case, or a capital and lower case, for words in capitals in other text, as in "This is VERY
        important", if `stress` is True, and no accents for words with unknown characters, as in "naïve". An unknown "&"
        between words becomes "and" in some languages. Unknown marks of emphasis are left out.
        """
        if not self._may_be_unknown(text):
            return text
        text = self._without_emphasis(text)
        if text.isupper():
            return text
        spelled = "".join(
            self._other_spelling(part, language, stress=stress) or part[0] if isinstance(part, re.Match) else part
            for part in _words_and_text(text)
        )
        word = _AND.get(primary_subtag(language))
        if word is not None and " & " in spelled and self._is_unknown_character("&"):
            spelled = spelled.replace(" & ", f" {word} ")
        return spelled

    def _without_emphasis(self, text: str) -> str:
        """Return a text without the marks of emphasis that the vocabulary lacks, but for those of protected parts."""
        kept, end = [], 0
        for match in unprotected(_EMPHASIS.finditer(text), text):
            if self._is_unknown_character(match["mark"][0]):
                kept += [text[end : match.start()], match["text"]]
                end = match.end()
        return "".join([*kept, text[end:]])

    def find(self, text: str, language: str) -> list[Part]:
        """Return the words of a text with unknown characters, and its acronyms for which there are only letters.

        A name with Latin letters that occur in no longer piece counts as unknown, too, and so do the names after an
        unknown one that are no pieces, as in "São Paulo".

        Letters of scripts without spaces are one word, which is unknown if all of its characters are. Words that
        `respelled` could change are left out, and so are texts of several words in capitals, acronyms after a number,
        as in "5 PM", and Roman numerals.
        """
        if not self._may_be_unknown(text) or (text.isupper() and not self._is_acronym_alone(text)):
            return []
        parts: list[Part] = []
        name_end = -1  # of the last part, if it is a name
        for match in _words(text):
            continues = text[name_end : match.start()] == " " and self._continues_name(match)
            is_name = continues or self._is_unknown_name(match, language)
            if not (is_name or self._is_unknown(match)) or self._other_spelling(match, language) is not None:
                continue
            start = parts.pop().start if continues else match.start()
            parts.append(Part(start, text[start : match.end()]))
            name_end = match.end() if is_name else -1
        return parts

    def is_in_unknown_script(self, text: str) -> bool:
        """Whether more than 80 % of a text's letters are unknown characters."""
        if text.isascii():
            return False
        letters = [character for character in text if character.isalpha()]
        return sum(map(self._is_unknown_character, letters)) > _UNKNOWN_SHARE * len(letters)

    def _is_acronym_alone(self, text: str) -> bool:
        words = [match[0] for match in _WORD.finditer(text) if match["unspaced"] is None]
        return len(words) == 1 and len(words[0]) <= _LONGEST_ACRONYM and not self._is_piece(words[0].lower())

    def lost(self, text: str, translation: str, language: str) -> list[Part]:
        """Return the words that `find` finds in a text, and names, that its translation lacks.

        Case and accents do not count: "Osaka" may stand for "Ōsaka". Acronyms may be translated in words, as "ATM"
        often is; they are lost if the translation has other capitals with the same first letter.
        """
        words = self._lost_words(text, translation, language)
        if self._names is None:
            return words
        return [*words, *apart(self._names.lost(text, translation, language), words)]

    def names_in_another_case(self, text: str, translation: str, language: str) -> list[tuple[str, str]]:
        """Return the names that a translation has in another case, see `Names.in_another_case`."""
        return [] if self._names is None else self._names.in_another_case(text, translation, language)

    def _lost_words(self, text: str, translation: str, language: str) -> list[Part]:
        parts = self.find(text, language)
        if not parts:
            return []
        others = {word[0] for word in _with_capitals(translation) - _with_capitals(text)}
        found = folded(translation)
        missing = (part for part in parts if folded(part.text) not in found)
        return [part for part in missing if part.text[0] in others or not self._is_acronym(part.text)]

    def _may_be_unknown(self, text: str) -> bool:
        """Whether a text has characters of unknown words; quick, since few texts do."""
        if _MAY_BE_UNKNOWN.search(text):
            return True
        if self._usual.issuperset(text):
            return False
        self._usual |= {each for each in text if not self._is_unknown_character(each) and not self._is_rare(each)}
        return not self._usual.issuperset(text)

    def _is_unknown(self, match: re.Match[str]) -> bool:
        word = match[0]
        if match["sign"] is not None:
            return True
        if match["unspaced"] is not None:
            return all(map(self._is_unknown_character, word))
        if match["plain"] is None:
            return not _begins(match) and any(map(self._is_unknown_character, word))
        before = match.string[max(match.start() - 2, 0) : match.start()]
        return self._is_spelled_capitals(word) and not _AFTER_NUMBER.search(before)

    def _is_unknown_name(self, match: re.Match[str], language: str) -> bool:
        word = match[0]
        if match["plain"] is None:
            return False
        is_rare = word[0].isupper() and any(map(self._is_rare, word))
        if is_rare and primary_subtag(language) in _WITH_COMPOUNDS:
            [first] = self._vocabulary.pieces(self._vocabulary.encode(word)[:1])
            is_rare = len(first) < _SHORTEST_PART
        return is_rare or any(map(self._is_unknown_character, word))

    def _continues_name(self, match: re.Match[str]) -> bool:
        """Whether a word after an unknown name may belong to it: it has a capital, and is no piece."""
        word = match[0]
        is_name = match["plain"] is not None and word[0].isupper()
        return is_name and not self._is_piece(word) and not self._is_piece(word.lower())

    def _is_acronym(self, word: str) -> bool:
        return self._is_spelled_capitals(word) and not any(map(self._is_unknown_character, word))

    def _is_rare(self, character: str) -> bool:
        """Whether a letter beyond ASCII hardly occurred in the training text: no longer piece has it in either case."""
        if _LATIN.fullmatch(character) is None:
            return False
        if self._frequent is None:
            self._frequent = frequent_characters(self._vocabulary)
        return self._frequent.isdisjoint((character, character.lower()))

    def _other_spelling(self, match: re.Match[str], language: str, *, stress: bool = True) -> str | None:
        word = match[0]
        if match["plain"] is None:
            return None
        others = []
        if self._is_spelled_capitals(word) and word not in _ACRONYMS:
            lower = in_lower_case(word, language)
            capital = word[0] + lower[1:]
            others = ([capital, lower] if _begins(match) else [lower, capital]) if stress else []
        elif any(map(self._is_unknown_character, word)):
            others = [without_accents(word)]
        return next(filter(self._is_piece, others), None)

    def _is_piece(self, word: str) -> bool:
        ids = self._vocabulary.encode(word)
        return len(ids) == 1 and ids[0] != self._vocabulary.ids.unk

    def _is_spelled_capitals(self, word: str) -> bool:
        """Whether a word is in Latin capitals, for which the vocabulary has hardly more than single letters."""
        return (
            sum(map(str.isupper, word)) > 1
            and not any(map(str.islower, word))
            and all(each.isascii() or _LATIN.fullmatch(each) for each in word)
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
    return unprotected(_WORD.finditer(text), text)


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


def _begins(match: re.Match[str]) -> bool:
    """Whether a word has the first letter or digit of its text."""
    first = _FIRST_LETTER.search(match.string)
    return first is not None and match.start() <= first.start() < match.end()
