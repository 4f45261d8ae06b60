"""Known words: what parallel text translates, and what it copies."""

from pocketmt.text.known_words import count_words

PAIRS = [
    ("Tom has a dog.", "Tom hat einen Hund."),
    ("Tom's dog, Bello, sleeps.", "Toms Hund Bello schläft."),
    ("Bill paid the bill.", "Bill zahlte die Rechnung."),
    ("The bill is high.", "Die Rechnung ist hoch."),
    ("The bill is here.", "Die Rechnung ist hier."),
    ("Munich is big.", "München ist groß."),
    ("I like it.", "Ich mag es."),
]


def test_words_are_counted_by_worked_example() -> None:
    counts = count_words(PAIRS)
    known = {
        "has",
        "a",
        "dog",
        "sleeps",
        "paid",
        "the",
        "bill",
        "is",
        "high",
        "here",
        "munich",
        "big",
        "i",
        "like",
        "it",
    }
    # "Bill" is copied in one of three lines with this word. The s of "Tom's" is no name: it is not capitalized.
    assert set(counts.translated) == known | {"s"}
    assert counts.copied == len({"tom", "bello"})
    assert set(counts.translated[:3]) == {"the", "bill", "is"}


def test_a_word_that_half_of_its_lines_copy_is_a_name() -> None:
    assert count_words([("Bill paid.", "Bill zahlte."), *PAIRS[3:4]]).copied == len({"bill"})


def test_a_genitive_counts_as_its_name() -> None:
    pairs = [("Toms Hund schläft.", "Tom's dog sleeps."), ("Haus", "house")]
    assert sorted(count_words(pairs).translated) == ["haus", "hund", "schläft"]


def test_parts_of_words_are_no_copies() -> None:
    assert count_words([("Mal", "Malen Sie!")]).translated == ["mal"]


def test_words_of_decomposed_or_hyphenated_text_are_whole() -> None:
    pairs = [("Cafe\u0301 Mu\u00adsik", "music"), ("Rene\u0301 singt.", "René sings.")]
    counts = count_words(pairs)
    assert sorted(counts.translated) == ["café", "musik", "singt"]
    assert counts.copied == len({"rené"})


def test_the_most_frequent_words_are_taken() -> None:
    assert count_words([("a b", "x"), ("b c", "x"), ("b c", "x")], most=2).translated == ["b", "c"]
