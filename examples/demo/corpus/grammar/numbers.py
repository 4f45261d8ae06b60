"""Numbers, prices, clock times and dates in both languages. Fractions are held as whole hundredths: no rounding."""

from examples.demo.corpus.grammar.phrases import Phrase

# fmt: off
_ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"
)
_GERMAN = (
    "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"
)
# fmt: on
_ENGLISH_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GERMAN_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")

MONTHS = (
    Phrase("January", "Januar"),
    Phrase("February", "Februar"),
    Phrase("March", "März"),
    Phrase("April", "April"),
    Phrase("May", "Mai"),
    Phrase("June", "Juni"),
    Phrase("July", "Juli"),
    Phrase("August", "August"),
    Phrase("September", "September"),
    Phrase("October", "Oktober"),
    Phrase("November", "November"),
    Phrase("December", "Dezember"),
)


def number_words(number: int) -> Phrase:
    """Return a whole number in [0, 999] in words; one is "eins", as in counting."""
    return Phrase(_english_words(number), _german_words(number))


def _english_words(number: int) -> str:
    if number < 20:
        return _ENGLISH[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _ENGLISH_TENS[tens] + (f"-{_ENGLISH[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{_ENGLISH[hundreds]} hundred" + (f" and {_english_words(rest)}" if rest else "")


def _german_words(number: int) -> str:
    if number < 20:
        return _GERMAN[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return (f"{_GERMAN[ones].removesuffix('s') if ones == 1 else _GERMAN[ones]}und" if ones else "") + _GERMAN_TENS[
            tens
        ]
    hundreds, rest = divmod(number, 100)
    return ("ein" if hundreds == 1 else _GERMAN[hundreds]) + "hundert" + (_german_words(rest) if rest else "")


def digits(hundredths: int, places: int) -> Phrase:
    """Return a number of hundredths in digits with 0, 1 or 2 decimal places: "1,250.50" and "1.250,50"."""
    whole, rest = divmod(hundredths, 100)
    english = f"{whole:,}" + (f".{rest:02d}"[: places + 1] if places else "")
    return Phrase(english, english.translate(str.maketrans(",.", ".,")))


def price(cents: int) -> Phrase:
    """Return a price in euros; whole euros have no decimal places."""
    amount = digits(cents, 0 if cents % 100 == 0 else 2)
    return Phrase(f"€{amount.english}", f"{amount.german} €")


def ordinal(number: int) -> str:
    """Return an English ordinal in digits: "1st", "12th", "23rd"."""
    suffix = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


_MINUTES = {
    5: Phrase("five", "fünf"),
    10: Phrase("ten", "zehn"),
    15: Phrase("quarter", "Viertel"),
    20: Phrase("twenty", "zwanzig"),
}


def clock(hour: int, minute: int) -> Phrase:
    """Return a clock time in words, for an hour in [1, 12] and a minute that is a multiple of five.

    "half past seven" is "halb acht"; 25 and 35 minutes are not said so.
    """
    following = hour % 12 + 1
    if minute == 0:
        return Phrase(f"{_ENGLISH[hour]} o'clock", f"{'ein' if hour == 1 else _GERMAN[hour]} Uhr")
    if minute == 30:
        return Phrase(f"half past {_ENGLISH[hour]}", f"halb {_GERMAN[following]}")
    near = minute if minute < 30 else 60 - minute
    if near not in _MINUTES:
        raise ValueError(f"no words for {minute} minutes")
    words = _MINUTES[near]
    if minute < 30:
        return Phrase(f"{words.english} past {_ENGLISH[hour]}", f"{words.german} nach {_GERMAN[hour]}")
    return Phrase(f"{words.english} to {_ENGLISH[following]}", f"{words.german} vor {_GERMAN[following]}")


def digital_clock(hour: int, minute: int) -> Phrase:
    """Return a time of the 24-hour clock in digits."""
    return Phrase(f"{hour}:{minute:02d}", f"{hour}:{minute:02d} Uhr")


def date(day: int, month: int) -> Phrase:
    """Return "the 3rd of May" / "3. Mai" (the German without article), for a month in [1, 12]."""
    name = MONTHS[month - 1]
    return Phrase(f"the {ordinal(day)} of {name.english}", f"{day}. {name.german}")
