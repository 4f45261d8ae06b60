"""Names of a text: words with a capital that the training text of a model did not translate."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.protected import Part, unprotected
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.letter_case import folded
from pocketmt.text.word_filter import WordFilter

_LETTER: Final = "[A-Za-z\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]"
# A word, or a name such as "O'Malley".
_CAPITALIZED: Final = lazy_pattern(
    rf"(?<!\w)[A-Z\u00c0-\u00de\u0100-\u024f\u1e00-\u1eff]{_LETTER}*(?:['’][A-Z]{_LETTER}+)?(?!\w)"
)
_WORD: Final = lazy_pattern(rf"(?<!\w){_LETTER}+(?:['’][A-Z]{_LETTER}+)?(?!\w)")
# There, nouns have capitals, and a word that ends with a known noun is no name.
_CAPITAL_NOUNS: Final = ("de", "lb")
_SHORTEST_NOUN: Final = 5  # letters, without its ending, at the end of a compound
_SHORTEST_STEM: Final = 3  # letters, of a whole word
# What is added to a known word in its other forms, by language.
_INFLECTIONS: Final = {
    "de": ("", "e", "en", "er", "es", "et", "in", "innen", "n", "s", "st", "t", "te", "ten"),
    "en": ("", "s", "es", "d", "ed", "ing", "er", "ers", "ly", "al"),
}
# Words with these endings are rarely names, where other words may have a capital, too.
_ENDINGS_OF_OTHERS: Final = {
    "de": lazy_pattern(
        r"(?:ung|heit|keit|schaft|[st]ion|tät)(?:en)?$|(?:isch|lich)(?:e[mnrs]?)?$|(?:ig|los)e[mnrs]?$|"
        r"(?:ismus|end|innen|em|ten?)$"
    ),
    "en": lazy_pattern(r"(?:(?:al|ent|ant|ous|ed|ing|ab|iv)ly|[a-z]{5}ing|[st]ion|ness|ism|ment|less|ful|ous|able)s?$"),
}
# Titles, abbreviations, and words at the beginning of sentences, which training text may lack.
_NO_NAMES: Final = (
    "ca etc evtl ggf inkl vs dr frau fräulein herr herrn miss mr mrs ms prof amid furthermore hence hey hmm hooray "
    "meanwhile moreover nevertheless nope oops ouch thus whoa whoops wow yeah yep yuck yup andererseits außerdem "
    "demnach hoppla hurra igitt insbesondere somit tja unterdessen zudem"
)
# What stands between the words of a name.
_BETWEEN_WORDS: Final = lazy_pattern(
    r"[ -]|(?: (?:al|bin|da|de|del|della|den|der|di|dos|du|ibn|la|le|ten|ter|van|von))+ "
)
# German words before nouns, which are rarely before names.
_ARTICLE: Final = lazy_pattern(
    r"(?<!\w)(?i:de[rsmn]|die|das|k?ein(?:e[mnrs]?)?|[mds]ein(?:e[mnrs]?)?|(?:ihr|euer|eur|unser|unsr)(?:e[mnrs]?)?|"
    r"dies(?:e[mnrs]?)|(?:jed|welch|manch)e[mnrs]?|(?:all|viel|wenig|einig|mehrer)e[nr]?|"
    r"[ai]m|ans|beim|fürs|ins|übers|vom|zu[mr]) $"
)
# After the first word of an English sentence, a sign that it is a verb, as in "Rinse the dishes".
_AFTER_VERB: Final = lazy_pattern(r" (?:(?:the|an?|your|my|our|its|these|those) (?=[a-z]|[A-Z]{2})|(?:it|them)(?!\w))")
_BEGINNING: Final = lazy_pattern(r"(?:^|[.!?…:\"“”„»«‚‘'’(–—|*]|(?<!\w)-)\s*$")
_GENITIVE: Final = lazy_pattern(r"[^s]s (?=[A-ZÄÖÜ])")
_LONGEST_BEFORE: Final = 12  # characters
_LONGEST_NAME: Final = 40  # letters
_MOST_SEEN: Final = 100_000  # words


class Names:
    """Finds names in texts.

    Args:
        known: words that are translated, in lower case.
    """

    def __init__(self, known: WordFilter) -> None:
        self._known = known
        self._no_names = frozenset(_NO_NAMES.split())
        self._seen: dict[str, bool] = {}  # whether words are known

    def lost(self, text: str, translation: str, language: str) -> list[Part]:
        """Return the names of a text that its translation lacks; names beside each other are one.

        Case and accents do not count, nor does an s at the end, which may be that of a genitive. Before a German noun,
        it is no part of the name.
        """
        if self._are_kept(text, translation):
            return []
        language = primary_subtag(language)
        words = self._words(text, language)
        found = folded(translation)
        names = [(*span, folded(text[slice(*span)]).removesuffix("s") not in found) for span in words]
        parts = []
        for start, end, is_lost in _joined(text, names) if any(is_lost for *_, is_lost in names) else ():
            if is_lost and "-" not in (text[start - 1 : start], text[end : end + 1]):
                end = _without_genitive(text, end) if language in _CAPITAL_NOUNS else end
                parts.append(Part(start, text[start:end]))
        return parts

    def in_another_case(self, text: str, translation: str, language: str) -> list[tuple[str, str]]:
        """Return the names that a translation has in another case: as they are there, and as the text has them.

        An s at the end of the text's name, which may be that of a genitive, may be missing in the translation.
        """
        if self._are_kept(text, translation) or translation.isupper():
            return []
        words = _WORD.findall(translation)
        found = []
        for start, end in self._words(text, primary_subtag(language)):
            for name in (text[start:end], text[start:end].removesuffix("s")):
                same = [word for word in words if word.lower() == name.lower()]
                if same:
                    found += [] if name in same else [(same[0], name)]
                    break
        return found

    def _are_kept(self, text: str, translation: str) -> bool:
        """Whether a translation surely has all names of a text; quick, since few texts have others."""
        return all(self._is_known(word) or word in translation for word in _CAPITALIZED.findall(text))

    def _words(self, text: str, language: str) -> list[tuple[int, int]]:
        """Return start and end of the words of a text that are names or parts of names."""
        if text.isupper():
            return []
        words = [
            match
            for match in _CAPITALIZED.finditer(text)
            if match[0][0].isupper() and not match[0].isupper() and self._is_name(match, language)
        ]
        return [match.span() for match in unprotected(words, text)]

    def _is_known(self, word: str) -> bool:
        if len(word) > _LONGEST_NAME:
            return True  # as no name
        known = self._seen.get(word)
        if known is None:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            lower = _composed(word).lower()
            known = self._seen[word] = lower in self._known or lower in self._no_names
        return known

    def _is_name(self, match: re.Match[str], language: str) -> bool:
        text, start = match.string, match.start()
        if self._is_known(match[0]):
            return False
        has_capital_nouns = language in _CAPITAL_NOUNS
        before = text[max(start - _LONGEST_BEFORE, 0) : start]
        begins = _BEGINNING.search(before) is not None
        if not begins and not has_capital_nouns:
            return True
        if language not in _INFLECTIONS or (not begins and _ARTICLE.search(before)):
            return False
        if language == "en" and begins and _AFTER_VERB.match(text, match.end()):
            return False
        word = _composed(match[0]).lower()
        if _ENDINGS_OF_OTHERS[language].search(word) or self._has_known_stem(word, language, _SHORTEST_STEM):
            return False
        ends = range(2, len(word) - _SHORTEST_NOUN + 1) if has_capital_nouns else ()
        return not any(self._has_known_stem(word[end:], language, _SHORTEST_NOUN) for end in ends)

    def _has_known_stem(self, word: str, language: str, shortest: int) -> bool:
        stems = (word.removesuffix(ending) for ending in _INFLECTIONS[language] if word.endswith(ending))
        return any(stem in self._known and self._letters(stem) >= shortest for stem in stems)

    def _letters(self, word: str) -> int:
        """Return the length of a word without the s of a genitive, such as "bergs", the end of "Heisenbergs"."""
        return len(word) - (word.endswith("s") and word[:-1] in self._known)


def _joined(text: str, names: Iterable[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Return names, each with whether it is lost, of which those beside each other are one."""
    joined: list[tuple[int, int, bool]] = []
    for start, end, is_lost in names:
        if joined and _BETWEEN_WORDS.fullmatch(text, joined[-1][1], start):
            first, _, other_is_lost = joined[-1]
            joined[-1] = first, end, is_lost or other_is_lost
        else:
            joined.append((start, end, is_lost))
    return joined


def _composed(word: str) -> str:
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def _without_genitive(text: str, end: int) -> int:
    """Return the end of a name without the s of a genitive, such as that of "Einsteins Haus"."""
    return end - 1 if _GENITIVE.match(text, end - 2) else end
