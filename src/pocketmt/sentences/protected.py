"""Parts of a text that a translation must keep: URLs, e-mail addresses, tags, placeholders, symbols and numbers."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from pocketmt.lazy_pattern import lazy_pattern
from pocketmt.sentences.numbers import Number, NumberFormat, follows_name, is_surely_time, is_version, read_number

_URL: Final = r"(?i:(?:https?|ftp)://|www\.)[^\s<>\"“”«»]*[^\s<>\"“”«».,;:!?…)\]}'’。、！？]"
_EMAIL: Final = r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
# An attribute has a quoted value, the first one has a value, or it is one of HTML's that have none: other words in
# angle brackets are text.
_ATTRIBUTE: Final = r"[^\s\"'<>/=]+"
_QUOTED: Final = r"\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')"
_VALUE: Final = rf"(?:{_QUOTED}|=[^\s\"'<>]+)"
_ALONE: Final = (
    r"(?i:allowfullscreen|async|autofocus|autoplay|checked|controls|data-[a-z0-9-]+|default|defer|disabled|"
    r"formnovalidate|hidden|inert|ismap|itemscope|loop|multiple|muted|nomodule|noshade|novalidate|nowrap|open|"
    r"playsinline|readonly|required|reversed|selected)(?![^\s/>])"
)
_FIRST: Final = rf"(?:\s+{_ATTRIBUTE}{_VALUE}|\s+{_ALONE}|(?:\s+{_ATTRIBUTE})+\s+{_ATTRIBUTE}{_QUOTED})"
_ATTRIBUTES: Final = rf"{_FIRST}(?:\s+{_ATTRIBUTE}(?:{_VALUE})?)*"
# Tags, those that are numbers in React's texts, and blocks of templates.
_TAG: Final = rf"</?(?:[A-Za-z][A-Za-z0-9_.:-]*(?:{_ATTRIBUTES})?\s*|\d{{1,3}})/?>|<%[^%<>]*%>|\{{%[^{{}}%]*%\}}"
# {{ name }}, {{ name | filter }}, {{- name, format(x) }}, $t(key, {"x": 1}), and arguments of ICU messages such as
# {when, date, short}.
_WITH_SPACES: Final = (
    r"\{\{-?[ \t]*[^{}\s|,]+[ \t]*(?:[|,][^{}\n]*)?\}\}"
    r"|\$t\([A-Za-z_][\w.:-]*,[^()\n]*\)"
    r"|\{[ \t]*\w+[ \t]*,[ \t]*(?:date|duration|number|ordinal|spellout|time)[ \t]*(?:,[^{}\n]*)?\}"
)
# A word of a text whose placeholders may have spaces.
WORD_WITH_SPACES: Final = lazy_pattern(rf"(?:{_WITH_SPACES}|\S)+")
_BRACES: Final = rf"{_WITH_SPACES}|[$%#]?\{{\{{?[^{{}}\s]*\}}?\}}|\$t?\([A-Za-z_][\w.:-]*\)"
_FORMAT_START: Final = r"%(?:\d+\$|\(\w+\))?[-+#0]{0,4}\d{0,4}(?:\.\d{1,4})?"
_FORMAT_OF_NUMBER: Final = rf"{_FORMAT_START}(?:hh?|ll?|[jzt])?[diufFeEgGxX](?!\w)(?:%%)?"
_FORMAT: Final = rf"{_FORMAT_START}[a-zA-Z@](?!\w)(?:%%)?"
# $name, $name$, %NAME%, __name__, :name or :smile:, @:key, @name, #name.
_VARIABLE: Final = (
    r"\$[A-Za-z_][\w@-]*\$(?!\w)|\$[A-Za-z_]\w*|%[A-Z][A-Z0-9_]+%|__\w+__|(?<![\w:/]):[a-z_]\w+:?"
    r"|@(?:\.[a-z]+)?:(?:\w+(?:\.\w+)*|\{'[^'{}\n]*'\})|(?<![\w@.])@[A-Za-z_]\w*|(?<![\w&#])#[A-Za-z_]\w*"
)
# Names of sites without http://, and of files.
_DOMAIN: Final = (
    r"(?<![\w.@-])(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]{2,}\.(?:com|org|net|edu|gov|io|dev|de|ch|uk|fr|eu)(?![\w-])"
)
_FILE: Final = (
    r"(?<![\w.-])[\w-]+\.(?i:pdf|txt|html?|jpe?g|png|gif|svg|docx?|xlsx?|csv|json|xml|zip|mp[34]|py|js|exe)(?!\w)"
)
_VERSION: Final = r"(?<![\w.-])[vV]\d+(?:\.\d+)+(?:-[\w.-]*\w)?(?!\w|\.\d)"  # such as v1.2.3-beta
_PHONE: Final = r"\+\d[\d ()/.-]{5,20}\d(?!\w)|(?<![\w.,/-])(?:0\d{2,5}[ /-]\d{4,15}|\d{3}-\d{4})(?:-\d{1,6})?(?![\w-])"
_DOLLARS: Final = r"\$\d(?![\d.,]*\d)"  # a placeholder or an amount of money
# Arrows, mathematical, technical and geometric signs, dingbats and emoji, with what selects and joins their forms; of
# others ©, ®, ±, ×, ÷, †, ‡, ‰, ′, ″ and ™.
_SIGNS: Final = (
    r"\u00a9\u00ae\u00b1\u00d7\u00f7\u2020\u2021\u2030\u2032\u2033\u2122"
    r"\u2190-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff"
)
_SYMBOLS: Final = rf"(?:[{_SIGNS}][\ufe0e\ufe0f\u200d\U000e0020-\U000e007f]*)+"
# Smileys such as :-) that stand apart.
_SMILEY: Final = r"(?<!\S)(?:[:;=]['’]?-?[()DPp|*]|[xX]D|<3|\^_?\^)(?=$|[\s.,!?])"
_NUMBER: Final = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:'’]\d+)*"
# Amounts of money, but not dollars, which languages write as words more often.
_CURRENCIES: Final = "£¥\u20a0-\u20c0"
_GAP: Final = "[ \u00a0\u202f]?"
# "5 Millionen €" has a word between, so "€5 million" is left to the model, too.
_LARGE: Final = rf"{_GAP}(?:(?i:mi|bi|tr|ml|mrd|bn|thou|taus|k(?!\w)|m(?!\w))|тыс|млн|млрд)"
_SIGN_FIRST: Final = rf"[{_CURRENCIES}]{_GAP}(?:{_NUMBER})"
_SIGN_LAST: Final = rf"(?:{_NUMBER}){_GAP}[{_CURRENCIES}](?!{_GAP}\d)"
_AMOUNT: Final = rf"(?:{_SIGN_FIRST}|{_SIGN_LAST})(?!{_LARGE})(?!\d|[.,:'’]\d)"
_SPELLED_OUT: Final = 12
Exactness = Literal["exact", "round", "none"]
_LONGEST_WORD_OF_TIME: Final = 18  # characters
_LONGEST_NAME: Final = 20  # characters
_SUFFIX: Final = lazy_pattern(r"['’]\w+")  # such as the 's of a genitive
_DIGIT_BEFORE: Final = lazy_pattern(r"\d\s?$")
_DIGIT_AFTER: Final = lazy_pattern(r"\s?\d")
AMOUNT_SIGN: Final = lazy_pattern(f"[{_CURRENCIES}]")
_MARKS: Final = lazy_pattern(
    rf"[\d@%{{$</#{_SIGNS}]|[wW]{{3}}\.|\w\.[A-Za-z]|:[a-z_]|__|[:;=]['’]?-?[()DPp|*]|[xX]D|\^"
)
_WORD: Final = lazy_pattern(r"[^\W\d_]")


class Part(NamedTuple):
    """A part of a text for which a word can stand in.

    Attributes:
        start: its first character.
        text: of the part.
        is_of_number: whether it is a number, an amount, a telephone number, a version, or a placeholder of a number.
        is_number: whether it is a number or an amount.
    """

    start: int
    text: str
    is_of_number: bool = False
    is_number: bool = False

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)

    def is_in_range(self, other: "Part") -> bool:
        """Whether it is a number of another part, a range of numbers."""
        is_range = other.is_of_number and not other.is_number
        return is_range and self.is_number and other.start <= self.start and self.end <= other.end


def has_words(text: str) -> bool:
    """Whether a text has letters outside its URLs, e-mail addresses, tags and placeholders."""
    return _WORD.search(protected_pattern().sub(" ", text) if may_have_parts(text) else text) is not None


def protected_matches(text: str) -> list[re.Match[str]]:
    """Return matches of the protected parts of a text that are surely no numbers."""
    if not may_have_parts(text):
        return []
    return [match for match in protected_pattern().finditer(text) if not may_be_number(match)]


def unprotected(matches: Iterable[re.Match[str]], text: str) -> Iterator[re.Match[str]]:
    """Yield those of some matches in a text, in order, that are in none of its protected parts; numbers are no such."""
    kept = [match.span() for match in reversed(protected_matches(text))]
    for match in matches:
        while kept and kept[-1][1] <= match.start():
            kept.pop()
        if not kept or match.end() <= kept[-1][0]:
            yield match


def apart(parts: Iterable[Part], others: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of a text that touch none of the others, nor begin within another one; both are in order."""
    remaining = list(reversed(others))
    end = 0  # of the last part
    for part in parts:
        while remaining and remaining[-1].end < part.start:
            remaining.pop()
        if part.start >= end and (not remaining or part.end < remaining[-1].start):
            end = part.end
            yield part


def replaceable_parts(text: str, written: NumberFormat | None = None) -> list[Part]:
    """Return the parts of a text for which a word can stand in: URLs, placeholders, exact numbers and amounts.

    Numbers stand apart from letters. `written` is the format of the text's numbers; None: of numbers with separators,
    only amounts and versions are taken.
    """
    if not may_have_parts(text):
        return []
    return [
        number_part(match) if match["replaceable"] is None else Part(match.start(), match[0], bool(match["of_number"]))
        for match in protected_pattern().finditer(text)
        if match["replaceable"] is not None or (exactness(match, written) == "exact" and stands_apart(match))
    ]


def number_part(match: re.Match[str]) -> Part:
    """Return a number or an amount as a part; one after a name, such as "Python 3.8", stays as it is written."""
    is_number = not follows_name(match[0], text_before(match))
    return Part(match.start(), match[0], is_of_number=True, is_number=is_number)


def text_before(match: re.Match[str]) -> str:
    """Return the text before a match, long enough for a name."""
    return match.string[max(match.start() - _LONGEST_NAME, 0) : match.start()]


def is_time(match: re.Match[str]) -> bool:
    """Whether a number is surely a time of day, in English or German."""
    before = match.string[max(match.start() - _LONGEST_WORD_OF_TIME, 0) : match.start()]
    after = match.string[match.end() : match.end() + _LONGEST_WORD_OF_TIME]
    return is_surely_time(match[0], before, after)


def may_be_number(match: re.Match[str]) -> bool:
    """Whether a match is a number, but no version or address, or an amount, or may be an amount of dollars."""
    is_number = match["number"] is not None and not is_version(match[0])
    return is_number or match["amount"] is not None or match["dollars"] is not None


def stands_apart(match: re.Match[str]) -> bool:
    """Whether a number or an amount stands apart from letters and other numbers."""
    before, after = match.string[max(match.start() - 2, 0) : match.start()], match.string[match.end() : match.end() + 2]
    beside = (*before[-1:], *after[:1])
    if any(map(str.isalpha, beside)):
        return False
    if match["amount"] is not None or " " in match[0]:
        return not _DIGIT_BEFORE.search(before) and not _DIGIT_AFTER.match(after)
    # A year such as '85 has no century.
    return not any(each in "-/" for each in beside) and before[-1:] not in ("'", "’")


def is_often_spelled_out(part: str) -> bool:
    """Whether a part is a number up to 12, or an amount of it, which many languages write as words."""
    number = AMOUNT_SIGN.sub("", part).strip()
    return len(number) <= 2 and number.isdecimal() and int(number) <= _SPELLED_OUT


def exactness(match: re.Match[str], written: NumberFormat | None) -> Exactness:
    """Return whether a match is a number that is rarely written as words.

    Round and small numbers, such as 5,000 and 6, may be written so, but not as 500 and 60. Times of day, and what else
    could be none, are "none". `written` is the format of the text's numbers.
    """
    if match["amount"] is not None:
        return "exact"
    if match["number"] is None:
        return "none"
    number = Number(match[0]) if match[0].isdecimal() else read_number(match[0], written) if written else None
    if number is None:
        return "exact" if is_version(match[0]) else "round" if written and " " in match[0] else "none"
    if is_time(match):
        return "none"
    return "exact" if number.is_exact else "round"


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of the protected parts of a text that are no numbers, with punctuation and suffixes."""
    places = [match.span() for match in protected_matches(text)]
    next_starts = [*(start for start, _ in places), len(text)][1:]
    spans: list[tuple[int, int]] = []
    for (start, end), next_start in zip(places, next_starts, strict=False):
        while start > (spans[-1][1] if spans else 0) and _is_punctuation(text[start - 1]):
            start -= 1
        while end < next_start and _is_punctuation(text[end]):
            suffix = _SUFFIX.match(text, end, next_start)
            end = suffix.end() if suffix else end + 1
        spans.append((start, end))
    return spans


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS" and character != "_"


def may_have_parts(text: str) -> bool:
    """Whether a text has what all protected parts have; quick, since few texts do."""
    return _MARKS.search(text) is not None


@cache
def protected_pattern() -> re.Pattern[str]:
    """Return the pattern of a protected part; few texts have one, and it takes a millisecond to compile."""
    of_number = f"(?P<of_number>{_FORMAT_OF_NUMBER}|{_PHONE}|{_VERSION})"
    replaceable = "|".join((_URL, _EMAIL, _DOMAIN, _FILE, _BRACES, of_number, _FORMAT, _VARIABLE))
    amounts = f"(?P<amount>{_AMOUNT})|(?P<dollars>{_DOLLARS})|(?P<number>{_NUMBER})"
    return re.compile(f"(?P<replaceable>{replaceable})|{_SMILEY}|{_TAG}|{_SYMBOLS}|{amounts}")
