import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.text.normalization import normalize

text = st.text(st.characters(exclude_categories=[]), max_size=40)


@given(text)
def test_normalization_is_idempotent(line: str) -> None:
    assert normalize(normalize(line)) == normalize(line)


@given(text)
def test_one_line_without_control_characters_and_double_spaces(line: str) -> None:
    normalized = normalize(line)
    assert not any(unicodedata.category(character) == "Cc" for character in normalized)
    assert normalized == " ".join(normalized.split())
    assert len(normalized.splitlines()) <= 1


@given(st.lists(st.text("abcäöüß.,?", min_size=1), min_size=1))
def test_ordinary_text_is_unchanged(words: list[str]) -> None:
    line = " ".join(words)
    assert normalize(line) == line


@pytest.mark.parametrize(
    ("line", "normalized"),
    [
        ("  two\t words \n", "two words"),
        ("a\x00b\x1fc\x7fd\x85e", "a b c d e"),
        ("ﬁve ½ ①", "five 1⁄2 1"),
        ("u\u0308ber", "über"),
        ("non\u00a0breaking\u3000space", "non breaking space"),
        ("one\u2028two\u2029three", "one two three"),
        ("ＡＢＣ", "ABC"),
        ("", ""),
        ("\r\n", ""),
    ],
)
def test_examples(line: str, normalized: str) -> None:
    assert normalize(line) == normalized
