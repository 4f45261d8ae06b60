"""Sets of words: all of their words are found, and hardly any others."""

import random

import pytest

from pocketmt.text.word_filter import WordFilter


def made_words(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzäöüßé漢", k=draw.randrange(1, 15))) for _ in range(count)]


@pytest.mark.parametrize(
    ("count", "wrong"), [(0, 0.0), (1, 0.05), (2, 0.05), (3, 0.05), (1_000, 0.002), (10_000, 0.002)]
)
def test_all_words_are_found_and_few_others(count: int, wrong: float) -> None:
    words = made_words(count, 1)
    known = WordFilter.of(words)
    assert all(word in known for word in words)
    others = [word for word in made_words(10_000, 2) if word not in set(words)]
    assert sum(word in known for word in others) <= wrong * len(others)
    assert len(known.bits) == 2 * max(count, 1)


def test_the_bits_of_a_worked_example() -> None:
    # CRC-32 of "a" is 0xe8b7be43. The first place is 0xc5ed31b7, the step 0x0e53c1c3: 7 + 3 i modulo 16 bits: bits 0,
    # 3, 6 and 7, and 1, 2, 4 and 5 of the second byte. Files that were written once are read by later versions.
    assert WordFilter.of(["a"]).bits.hex() == "c936"


def test_any_text_may_be_asked_for() -> None:
    known = WordFilter.of(["word"])
    assert "" not in known and "\ud800" not in known and "x" * 10_000 not in known
