"""References to characters in HTML and subtitles."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.text.character_references import unescape


@given(
    st.lists(st.sampled_from(["&", "#", "x", ";", "0", "1", "6", "9", "amp", "&#00", " "]), max_size=20).map("".join)
)
def test_they_are_read_as_by_python(text: str) -> None:
    assert unescape(text) == html.unescape(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a &#{'0' * 10_000}65;", "a A"),
        (f"a &#{'9' * 10_000}; b", "a \ufffd b"),
        (f"a &#{'0' * 10_000}x", "a \ufffdx"),
        (f"a &#x{'0' * 10_000}41;", "a A"),
    ],
)
def test_numbers_have_any_number_of_digits(text: str, expected: str) -> None:
    assert unescape(text) == expected
