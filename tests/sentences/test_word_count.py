"""Numbers of words of source and translation."""

import pytest

from pocketmt.sentences.word_count import count_words, is_too_long, is_too_short


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("Two dogs, 3 cats!", 4), ("犬が走る。", 2), ("สวัสดี", 3), ("the 犬 runs", 2.5), ("...", 0)],
)
def test_words_are_counted_in_all_scripts(text: str, words: float) -> None:
    assert count_words(text) == words


def test_bounds() -> None:
    assert is_too_short(20, 7)
    assert not is_too_short(20, 8)
    assert not is_too_short(4, 0)
    assert is_too_long(20, 61)
    assert not is_too_long(20, 60)
    assert not is_too_long(0, 10)
