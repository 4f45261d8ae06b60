import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.text.normalization import normalize, remove_invisible, visible_places

REMOVED = [*"\u00ad\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"]
invisible = st.text(st.sampled_from([*REMOVED, *"\u200b\u200c\u200d \u0301\u0308aeu\x00\u1100\u1161ﬁ"]), max_size=20)
text = st.text(st.characters(exclude_categories=[]), max_size=40)


@given(text | invisible)
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
        ("sis\u00adter", "sister"),
        ("\ufeffa \u2068b\u2069\u200e", "a b"),
        ("a\u200bb\u200b", "a b"),
        ("u\u00ad\u0308ber", "über"),
        ("\ufeff \u00ad\u200b", ""),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("क्\u200dष", "क्\u200dष"),
        ("", ""),
        ("\r\n", ""),
    ],
)
def test_examples(line: str, normalized: str) -> None:
    assert normalize(line) == normalized


@given(invisible)
def test_invisible_characters_change_nothing(line: str) -> None:
    plain = "".join(character for character in line if character not in REMOVED).replace("\u200b", " ")
    assert remove_invisible(line) == plain
    assert normalize(line) == normalize(plain)
    places = visible_places(line)
    assert "".join(line[place] for place in places).replace("\u200b", " ") == plain


def test_nfkc_makes_no_invisible_characters() -> None:
    """Nor does it change one, so that it does not matter to their removal whether a text is in NFKC already."""
    characters = [chr(code) for code in range(0x110000)]
    made = {character for character in characters if {*REMOVED, "\u200b"} & {*unicodedata.normalize("NFKC", character)}}
    assert made == {*REMOVED, "\u200b"}
