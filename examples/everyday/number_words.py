"""Numbers and ordinal numbers as English and German words."""

from typing import Final

ENGLISH: Final = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
ENGLISH_TENS: Final = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
GERMAN: Final = [
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
]  # fmt: skip
GERMAN_TENS: Final = [
    "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
]  # fmt: skip
ENGLISH_ORDINALS: Final = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
GERMAN_ORDINALS: Final = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}  # The others have -t or, from 20 on, -st.


def english_number(number: int) -> str:
    """Return a number of 1 to 999 in English words, such as "two hundred and twenty-three"."""
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return f"{ENGLISH[hundreds]} hundred" + (f" and {english_number(rest)}" if rest else "")
    if number < 20:
        return ENGLISH[number]
    return ENGLISH_TENS[number // 10 - 2] + (f"-{ENGLISH[number % 10]}" if number % 10 else "")


def german_number(number: int) -> str:
    """Return a number of 1 to 999 as a German word that stands before a noun, such as "zweihundertdreiundzwanzig"."""
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return ("" if hundreds == 1 else GERMAN[hundreds]) + "hundert" + (german_number(rest) if rest else "")
    if number < 20:
        return GERMAN[number]
    return (f"{GERMAN[number % 10]}und" if number % 10 else "") + GERMAN_TENS[number // 10 - 2]


def english_ordinal(number: int) -> str:
    """Return an ordinal number of 1 to 99 in English words, such as "twenty-third"."""
    start, hyphen, last = english_number(number).rpartition("-")
    ordinal = ENGLISH_ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return start + hyphen + ordinal


def german_ordinal(number: int) -> str:
    """Return the stem of a German ordinal number of 1 to 99, such as "dreiundzwanzigst"; it always has an ending."""
    return GERMAN_ORDINALS.get(number) or german_number(number) + ("t" if number < 20 else "st")
