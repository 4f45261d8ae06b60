"""Makes pairs with other names, times, dates and abbreviations from English and German text.

Everyday text has few names, times and dates, and a model that has seen few makes words of the others.

python -m examples.everyday.names TEXT.en TEXT.de --output NAMES.en NAMES.de
"""

import argparse
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from examples.everyday.texts import write_pairs
from pocketmt.errors import PocketMTError
from pocketmt.text.corpus import read_pairs

Pair = tuple[str, str]  # An English line and its German translation.
Variants = Callable[[random.Random, Pair], Iterator[Pair]]

SEED: Final = 1
LISTS: Final = Path(__file__).with_name("names.toml")
MONTHS: Final = {
    "January": "Januar", "February": "Februar", "March": "März", "April": "April", "May": "Mai", "June": "Juni",
    "July": "Juli", "August": "August", "September": "September", "October": "Oktober", "November": "November",
    "December": "Dezember",
}  # fmt: skip
# Names of the text, and the list from which others are drawn.
NAMED: Final = {
    "Tom": "male", "John": "male", "Mary": "female", "Boston": "places", "London": "places", "Paris": "places",
    "Chicago": "places", "Osaka": "places", "Kyoto": "places", "Berlin": "places",
}  # fmt: skip
GERMAN: Final = {"Mary": "Maria"}  # Translators often wrote so.
COPIES: Final = {"places": 4, "times": 6, "dates": 40, "abbreviations": 2}
TITLES: Final = {
    "male": (("Mr.", "Herr"), ("Mr.", "Herr"), ("Mr", "Herr"), ("Dr.", "Dr."), ("Professor", "Professor")),
    "female": (("Mrs.", "Frau"), ("Ms.", "Frau"), ("Mrs", "Frau"), ("Dr.", "Dr.")),
}
# German prepositions, after which "Herr" is "Herrn".
PREPOSITIONS: Final = (
    "an",
    "auf",
    "bei",
    "für",
    "gegen",
    "mit",
    "nach",
    "neben",
    "ohne",
    "über",
    "um",
    "von",
    "vor",
    "zu",
)
POSTSCRIPTS: Final = 1 / 300  # of all pairs
_TIME: Final = re.compile(r"(?<![\w:.])(\d{1,2}):(\d\d)(?![\w:])")
_GERMAN_TIME: Final = re.compile(r"(?<![\w:.])(\d{1,2})[:.](\d\d)(?= Uhr)")
_DATE: Final = re.compile(rf"({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?(?:, (\d{{4}}))?(?!\w)")
_GERMAN_DATE: Final = re.compile(rf"(?<!\w)(\d{{1,2}})\. ({'|'.join(MONTHS.values())})(?: (\d{{4}}))?(?!\w)")
_ABBREVIATED: Final = (
    (r"\b[Ff]or example,?", r"\b[Zz]um Beispiel", (("e.g.", "z. B."), ("e.g.", "z.B."))),
    (r"\band so on\b", r"\bund so weiter\b", (("etc.", "usw."),)),
    (r"\b(?:United States(?: of America)?|USA?)(?!\w)", r"\bUSA\b", (("U.S.", "USA"), ("US", "USA"))),
    (r"\b(?:United States(?: of America)?|USA?)(?!\w)", r"\bVereinigten? Staaten(?: von Amerika)?", (("U.S.", "USA"),)),
)


def main() -> int:
    """Write the pairs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("english", type=Path, help="English side of parallel text")
    parser.add_argument("german", type=Path, help="German side")
    parser.add_argument(
        "--copies", type=int, default=2, help="of a pair with the name of a person (default: %(default)s)"
    )
    parser.add_argument("--titles", action="store_true", help="add pairs in which persons have titles")
    parser.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="files for the sides")
    options = parser.parse_args()
    try:
        pairs = read_pairs(options.english, options.german)
        write_pairs(with_other_names(pairs, options.copies, titles=options.titles), *options.output)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def with_other_names(pairs: Iterable[Pair], copies: int = 2, *, titles: bool = False) -> Iterator[Pair]:
    """Yield copies of the pairs with other names, times, dates or abbreviations than they have.

    `copies` is the number of copies of a pair with the name of a person. `titles` adds others in which a person has a
    title.
    """
    draw = random.Random(SEED)
    names = partial(_other_names, copies=copies)
    variants: tuple[Variants, ...] = (names, other_times, other_dates, _abbreviated, _with_postscript)
    for pair in pairs:
        for each in (*variants, _titled) if titles else variants:
            yield from each(draw, pair)


def _other_names(draw: random.Random, pair: Pair, copies: int) -> Iterator[Pair]:
    kinds = [NAMED[name] for name in NAMED if name in pair[0]]
    for _ in range(max((COPIES.get(kind, copies) for kind in kinds), default=0)):
        if other := with_names(pair, partial(_drawn_name, draw)):
            yield other


def with_names(pair: Pair, drawn: Callable[[str], str]) -> Pair | None:
    """Return a pair with other names in place of those of `NAMED`, which `drawn` gives for their kinds.

    None if it has none of these, or one of its sides has more than the other.
    """
    places = {name: _places(pair, name) for name in NAMED}
    if not any(english for english, _ in places.values()):
        return None
    if any(english != german for english, german in places.values()):
        return None
    english, german = pair
    for name in (name for name, (count, _) in places.items() if count):
        other = drawn(NAMED[name])
        english = re.sub(rf"\b{name}(?!\w)", other, english)
        german = re.sub(rf"\b{_german_form(name)}s?(?!\w)['’]?", partial(_inflected, other), german)
    return english, german


def _titled(draw: random.Random, pair: Pair) -> Iterator[Pair]:
    """Yield a copy of a pair with one person, who has a title and a family name in it."""
    persons = [name for name in NAMED if NAMED[name] != "places" and _places(pair, name) != (0, 0)]
    if len(persons) != 1 or _places(pair, persons[0]) != (1, 1):
        return
    form = rf"{_german_form(persons[0])}(s?)(?!\w)['’]?"
    place = re.search(rf"(?P<before>(?:^|\b\w+ ))(?:{form})", pair[1])
    if place is None:
        return
    title, german_title = draw.choice(TITLES[NAMED[persons[0]]])
    is_oblique = place[2] == "s" or place["before"].strip().lower() in PREPOSITIONS
    if german_title == "Herr" and not is_oblique and place["before"]:
        return  # It could be the object, which is "Herrn".
    german_title += "n" if german_title == "Herr" and is_oblique else ""
    family = draw.choice(_names("family")) if draw.random() < 0.7 else _made_up(draw, "family")
    yield (
        re.sub(rf"\b{persons[0]}(?!\w)", f"{title} {family}", pair[0]),
        re.sub(rf"\b(?:{form})", lambda match: f"{german_title} {_inflected(family, match)}", pair[1]),
    )


def _places(pair: Pair, name: str) -> tuple[int, int]:
    """Return how often a name is in the English and in the German line."""
    english, german = pair
    return len(re.findall(rf"\b{name}(?!\w)", english)), len(re.findall(rf"\b{_german_form(name)}s?(?!\w)", german))


def _german_form(name: str) -> str:
    return f"(?:{name}|{GERMAN[name]})" if name in GERMAN else name


def _inflected(name: str, match: re.Match[str]) -> str:
    """Return a name in the form, nominative or genitive, of the one that it replaces."""
    if not match[0].rstrip("'’").endswith("s") or match[0].rstrip("'’") in NAMED:
        return name
    return f"{name}'" if name.endswith(("s", "x", "z", "ß")) else f"{name}s"


def _drawn_name(draw: random.Random, kind: str) -> str:
    """Return a name of a list, or one that is put together like its names; of persons, also with a family name."""
    if kind == "places":
        chosen = draw.random()
        if chosen < 0.1:
            return "".join(draw.choices("ABCDEFGHIJKLMNOPRSTUVWZ", k=draw.randint(2, 5)))
        return draw.choice(_names(kind)) if chosen < 0.6 else _made_up(draw, kind)
    first = draw.choice(_names(kind)) if draw.random() < 0.7 else _made_up(draw, kind)
    family = draw.choice(_names("family")) if draw.random() < 0.6 else _made_up(draw, "family")
    chosen = draw.random()
    if chosen < 0.6:
        return first
    return f"{first} {family}" if chosen < 0.85 else f"Dr. {family}"


@cache
def _names(kind: str) -> list[str]:
    names: str = tomllib.loads(LISTS.read_text(encoding="utf-8"))[kind]
    return names.split()


def _made_up(draw: random.Random, kind: str) -> str:
    """Return a name whose letters follow one another as in the names of a list."""
    following = _following(kind)
    while True:
        name = "^^"
        while not name.endswith("$") and len(name) < 13:
            letters = following[name[-2:]]
            name += draw.choices([*letters], [*letters.values()])[0]
        if name.endswith("$") and len(name) > 5:
            return name[2:-1]


@cache
def _following(kind: str) -> dict[str, Counter[str]]:
    """Return the letters that follow two others, with their frequencies."""
    following: dict[str, Counter[str]] = {}
    for name in _names(kind):
        marked = f"^^{name}$"
        for place in range(len(marked) - 2):
            following.setdefault(marked[place : place + 2], Counter())[marked[place + 2]] += 1
    return following


def other_times(draw: random.Random, pair: Pair) -> Iterator[Pair]:
    """Yield copies of a pair that has one time of day, the same on both sides, with other times."""
    english, german = _TIME.findall(pair[0]), _GERMAN_TIME.findall(pair[1])
    if len(english) != 1 or len(german) != 1 or english[0][1] != german[0][1]:
        return
    later = int(german[0][0]) - int(english[0][0])
    if later not in (0, 12):
        return
    for _ in range(COPIES["times"]):
        whole_day = later == 0 and not re.search(r"\b[ap]\.?m\b", pair[0])
        hour, minutes = draw.randint(0, 23) if whole_day else draw.randint(1, 11), f"{draw.randint(0, 59):02}"
        sign = draw.choice("::.")
        yield (
            _TIME.sub(f"{hour}:{minutes}", pair[0]),
            _GERMAN_TIME.sub(f"{hour + later}{sign}{minutes}", pair[1]),
        )


def other_dates(draw: random.Random, pair: Pair) -> Iterator[Pair]:
    """Yield copies of a pair that has one date, the same on both sides, with other dates."""
    english, german = _DATE.findall(pair[0]), _GERMAN_DATE.findall(pair[1])
    if len(english) != 1 or len(german) != 1:
        return
    month, day, year = english[0]
    if german[0] != (day, MONTHS[month], year):
        return
    for _ in range(COPIES["dates"]):
        written = _drawn_date(draw, with_year=bool(year))
        yield _DATE.sub(written[0], pair[0]), _GERMAN_DATE.sub(written[1], pair[1])


def _drawn_date(draw: random.Random, *, with_year: bool) -> tuple[str, str]:
    """Return a date in English and German; one in digits is the same in both."""
    month, day, year = draw.randint(1, 12), draw.randint(1, 28), draw.randint(1800, 2099)
    if draw.random() < 0.4:
        digits = draw.choice((f"{day}.{month}.{year}", f"{day:02}.{month:02}.{year}", f"{month}/{day}/{year}"))
        digits = f"{year}-{month:02}-{day:02}" if draw.random() < 0.2 else digits
        return digits, digits
    english, german = list(MONTHS.items())[month - 1]
    if with_year:
        return f"{english} {day}, {year}", f"{day}. {german} {year}"
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{english} {day}{draw.choice((ending, ''))}", f"{day}. {german}"


def _abbreviated(draw: random.Random, pair: Pair) -> Iterator[Pair]:
    for english, german, short in _ABBREVIATED:
        if len(re.findall(english, pair[0])) == len(re.findall(german, pair[1])) == 1:
            for _ in range(COPIES["abbreviations"]):
                yield _replaced(pair, (english, german), draw.choice(short))


def _replaced(pair: Pair, patterns: Sequence[str], texts: Pair) -> Pair:
    english, german = (
        re.sub(rf"{pattern}(\.)?", text if text.endswith(".") else rf"{text}\1", side)
        for side, pattern, text in zip(pair, patterns, texts, strict=True)
    )
    return english, german


def _with_postscript(draw: random.Random, pair: Pair) -> Iterator[Pair]:
    if draw.random() < POSTSCRIPTS:
        yield f"P.S. {pair[0]}", f"P.S. {pair[1]}"


if __name__ == "__main__":
    sys.exit(main())
