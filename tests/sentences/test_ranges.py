"""Ranges of numbers that a translation changed."""

import pytest

from pocketmt.sentences import lost_numbers, lost_parts, with_parts, with_stand_ins


@pytest.mark.parametrize(
    ("source", "translation", "ranges"),
    [
        ("It takes 3-5 days.", "Es dauert 35 Tage.", ["3-5"]),
        ("2–4 people", "24 Leute", ["2–4"]),
        ("10 – 20 minutes", "1020 Minuten", ["10 – 20"]),
        ("110–120 km", "110010 km", ["110–120"]),
        ("It takes 3-5 days.", "Es dauert 3 bis 5 Tage.", []),
        ("It takes 3-5 days.", "Es dauert drei bis fünf Tage.", []),
        ("We won 3-1.", "Wir gewannen 31.", []),
        ("on 2024-01-05", "am 5124", []),
    ],
)
def test_changed_ranges_are_lost(source: str, translation: str, ranges: list[str]) -> None:
    lost = [part for part in lost_numbers(source, translation, None) if not part.is_number]
    assert [part.text for part in lost] == ranges
    assert [part for part in lost_parts(source, translation) if not part.isdecimal()] == ranges


def test_a_number_stands_in_for_a_range() -> None:
    text = "It takes 110–120 minutes."
    replaced, stand_ins = with_stand_ins(text, unknown=lost_numbers(text, "Es dauert 110010 Minuten.", None))
    assert [stand_in.part for stand_in in stand_ins] == ["110–120"]
    assert replaced == f"It takes {stand_ins[0].word} minutes."
    assert with_parts(f"Es dauert {stand_ins[0].word} Minuten.", stand_ins) == "Es dauert 110–120 Minuten."
