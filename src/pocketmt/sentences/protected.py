"""Parts of a text that a translation must keep: URLs, e-mail addresses, tags, placeholders, symbols and numbers."""

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import Final, Literal, NamedTuple

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
_FILTERED: Final = r"\{\{[ \t]*[^{}\s|]+(?:[ \t]*\|+[ \t]*[^{}\s|]+)*[ \t]*\}\}"  # {{ name }}, {{ name | filter }}
# A word of a text whose placeholders may have spaces.
WORD_WITH_SPACES: Final = re.compile(rf"(?:{_FILTERED}|\S)+")
_BRACES: Final = rf"{_FILTERED}|[$%#]?\{{\{{?[^{{}}\s]*\}}?\}}|\$\([A-Za-z_]\w*\)"
_FORMAT_START: Final = r"%(?:\d+\$|\(\w+\))?[-+#0]{0,4}\d{0,4}(?:\.\d{1,4})?"
_FORMAT_OF_NUMBER: Final = rf"{_FORMAT_START}(?:hh?|ll?|[jzt])?[diufFeEgGxX](?!\w)(?:%%)?"
_FORMAT: Final = rf"{_FORMAT_START}[a-zA-Z@](?!\w)(?:%%)?"
# $name, %NAME%, __name__, :name or :smile:, @name, #name.
_VARIABLE: Final = (
    r"\$[A-Za-z_]\w*|%[A-Z][A-Z0-9_]+%|__\w+__|(?<![\w:/]):[a-z_]\w+:?"
    r"|(?<![\w@.])@[A-Za-z_]\w*|(?<![\w&#])#[A-Za-z_]\w*"
)
# Names of sites without http://, and of files.
_DOMAIN: Final = (
    r"(?<![\w.@-])(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]{2,}\.(?:com|org|net|edu|gov|io|dev|de|ch|uk|fr|eu)(?![\w-])"
)
_FILE: Final = (
    r"(?<![\w.-])[\w-]+\.(?i:pdf|txt|html?|jpe?g|png|gif|svg|docx?|xlsx?|csv|json|xml|zip|mp[34]|py|js|exe)(?!\w)"
)
_DOLLARS: Final = r"\$\d(?![\d.,]*\d)"  # a placeholder or an amount of money
# Arrows, technical and geometric signs, dingbats and emoji, with what selects and joins their forms.
_SIGNS: Final = r"\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff"
_SYMBOLS: Final = rf"(?:[{_SIGNS}][\ufe0e\ufe0f\u200d\U000e0020-\U000e007f]*)+"
_NUMBER: Final = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:'’]\d+)*"
# Amounts of money, but not dollars, which languages write as words more often.
_CURRENCIES: Final = "£¥\u20a0-\u20c0"
_GAP: Final = "[ \u00a0\u202f]?"
_CURRENCY_NAME: Final = re.compile(
    r"(?i:eur|pound|pfund|libra|livre|sterlin|yen|jen|rupee|rupi)|евро|фунт|иен|рупи|руб|ευρώ|円|元|유로|ユーロ"
)
_ZEROS: Final = re.compile(r"[.,]00$")  # of cents
# "5 Millionen €" has a word between, so "€5 million" is left to the model, too.
_LARGE: Final = rf"{_GAP}(?:(?i:mi|bi|tr|ml|mrd|bn|thou|taus|k(?!\w)|m(?!\w))|тыс|млн|млрд)"
_SIGN_FIRST: Final = rf"[{_CURRENCIES}]{_GAP}(?:{_NUMBER})"
_SIGN_LAST: Final = rf"(?:{_NUMBER}){_GAP}[{_CURRENCIES}](?!{_GAP}\d)"
_AMOUNT: Final = rf"(?:{_SIGN_FIRST}|{_SIGN_LAST})(?!{_LARGE})(?!\d|[.,:'’]\d)"
# Numbers up to this one are often written as words, so they are not asked for.
_SPELLED_OUT: Final = 12
_LEAST_EXACT: Final = 3  # digits of a number that is rarely written as words
Numbers = Literal["all", "exact", "none"]
_SUFFIX: Final = re.compile(r"['’]\w+")  # such as the 's of a genitive
_DIGIT_BEFORE: Final = re.compile(r"\d\s?$")
_DIGIT_AFTER: Final = re.compile(r"\s?\d")
_AMOUNT_SIGN: Final = re.compile(f"[{_CURRENCIES}]")
_MARKS: Final = re.compile(rf"[\d@%{{$</#{_SIGNS}]|[wW]{{3}}\.|\w\.[A-Za-z]|:[a-z_]|__")
_WORD: Final = re.compile(r"[^\W\d_]")


class Part(NamedTuple):
    """A part of a text for which a word can stand in.

    Attributes:
        start: its first character.
        text: of the part.
        is_of_number: whether it is a number, an amount, or a placeholder of a number.
    """

    start: int
    text: str
    is_of_number: bool = False

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)


def has_words(text: str) -> bool:
    """Whether a text has letters outside its URLs, e-mail addresses, tags and placeholders."""
    return _WORD.search(_protected().sub(" ", text) if _may_have_parts(text) else text) is not None


def lost_parts(source: str, translation: str, *, numbers: Numbers = "all") -> list[str]:
    """Return the protected parts of a source text that its translation lacks, in their order.

    A number may have other separators, since languages differ in these: "1,000.5" is kept by "1.000,5". Whole numbers
    up to 12 are left out, because many languages write them as words. A part that occurs twice is needed twice.

    Args:
        source: the text.
        translation: of the text.
        numbers: which are looked at. All numbers include what may be an amount of dollars or a placeholder, such as
            "$1". Exact ones have at least three digits, no separators, and no two zeros at their end: others may be
            written in words, as times of day and round numbers are. Amounts such as "5 €" are exact, too, and need
            their sign, or the name of a currency in the translation.
    """
    if not _may_have_parts(source):
        return []
    signs = numbers == "exact" and not _CURRENCY_NAME.search(translation)
    needed = _parts(source, signs=signs)
    found = Counter(key for key, _, _ in _parts(translation, signs=signs))
    lost = []
    for key, part, is_number in needed:
        if found[key] > 0:
            found[key] -= 1
        elif (
            not is_number
            or (numbers == "all" and not _is_often_spelled_out(part))
            or (numbers == "exact" and _is_exact(part) and (signs or not _is_often_spelled_out(part)))
        ):
            lost.append(part)
    return lost


def protected_matches(text: str) -> list[re.Match[str]]:
    """Return matches of the protected parts of a text that are surely no numbers."""
    if not _may_have_parts(text):
        return []
    return [match for match in _protected().finditer(text) if not _may_be_number(match)]


def replaceable_parts(text: str) -> list[Part]:
    """Return the parts of a text for which a word can stand in: URLs, placeholders, exact numbers and amounts.

    Numbers stand apart from letters.
    """
    if not _may_have_parts(text):
        return []
    return [
        Part(match.start(), match[0], match["replaceable"] is None or match["of_number"] is not None)
        for match in _protected().finditer(text)
        if match["replaceable"] is not None or _is_exact_number(match)
    ]


def _may_be_number(match: re.Match[str]) -> bool:
    return match["amount"] is not None or match["dollars"] is not None or match["number"] is not None


def _is_exact_number(match: re.Match[str]) -> bool:
    """Whether a match is an exact number or an amount that stands apart from letters and other numbers."""
    before, after = match.string[max(match.start() - 2, 0) : match.start()], match.string[match.end() : match.end() + 2]
    beside = (*before[-1:], *after[:1])
    if any(map(str.isalpha, beside)):
        return False
    if match["amount"] is not None:
        return not _DIGIT_BEFORE.search(before) and not _DIGIT_AFTER.match(after)
    return match["number"] is not None and _is_exact(match[0]) and not any(each in "-/" for each in beside)


def _is_exact(number: str) -> bool:
    if number.isdecimal():
        return len(number) >= _LEAST_EXACT and not number.endswith("00")
    return _AMOUNT_SIGN.search(number) is not None


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


def _may_have_parts(text: str) -> bool:
    """Whether a text has what all protected parts have; quick, since few texts do."""
    return _MARKS.search(text) is not None


@cache
def _protected() -> re.Pattern[str]:
    """Return the pattern of a protected part; few texts have one, and it takes a millisecond to compile."""
    replaceable = "|".join(
        (_URL, _EMAIL, _DOMAIN, _FILE, _BRACES, f"(?P<of_number>{_FORMAT_OF_NUMBER})", _FORMAT, _VARIABLE)
    )
    amounts = f"(?P<amount>{_AMOUNT})|(?P<dollars>{_DOLLARS})|(?P<number>{_NUMBER})"
    return re.compile(f"(?P<replaceable>{replaceable})|{_TAG}|{_SYMBOLS}|{amounts}")


def _is_often_spelled_out(part: str) -> bool:
    number = _AMOUNT_SIGN.sub("", part).strip()
    return len(number) <= 2 and number.isdecimal() and int(number) <= _SPELLED_OUT


def _parts(text: str, *, signs: bool) -> list[tuple[str, str, bool]]:
    """Return the protected parts of a text: the form in which each is compared, itself, whether it may be a number.

    `signs` says whether the sign of an amount is compared.
    """
    return [(_key(match, signs=signs), match[0], _may_be_number(match)) for match in _protected().finditer(text)]


def _key(match: re.Match[str], *, signs: bool) -> str:
    if match["amount"] is None and match["number"] is None:
        return match[0]
    number, sign = match[0], []
    if signs and match["amount"] is not None:
        sign, number = _AMOUNT_SIGN.findall(number), _ZEROS.sub("", _AMOUNT_SIGN.sub("", number).strip())
    return "".join([*sign, *filter(str.isdecimal, number)])
