"""Subtitles: what is translated of them, and that everything else is copied."""

import random
from collections.abc import Callable

import pytest

from pocketmt.errors import DataError
from pocketmt.text.formats.subtitles import read_units

SRT = """\
1
00:00:01,000 --> 00:00:04,000
I think that you
are wrong.

2
00:00:05,000 --> 00:00:07,000
<i>When I was young,
I lived in a small</i>

3
00:00:07,500 --> 00:00:09,000
<i>house near the river.</i>

4
00:00:10,000 --> 00:00:12,000
- Are you hungry?
- No, thank you.

5
00:00:13,000 --> 00:00:15,000

6
00:00:16,000 --> 00:00:17,000
{\\an8}Good night!
"""
VTT = """\
WEBVTT - a title

NOTE
not translated

STYLE
::cue { color: red }

first
00:01.000 --> 00:04.000 align:start
<v Ann>Tom &amp; I <00:02.000>are here.</v>
"""


def texts(content: str) -> list[tuple[str, ...]]:
    return [unit.lines for unit in read_units([content.encode()], "x.srt") if unit.lines != ("",)]


def translated(content: str, translate: Callable[[str], str] = str) -> str:
    units = read_units([content.encode()], "x.srt")
    parts = ((unit.before, unit.encode("\n".join(map(translate, unit.lines))), unit.after) for unit in units)
    return b"".join(part for unit in parts for part in unit).decode()


def test_cues_of_a_sentence_are_one_unit_and_speakers_are_not() -> None:
    assert texts(SRT) == [
        ("I think that you are wrong.",),
        ("When I was young, I lived in a small house near the river.",),
        ("- Are you hungry?", "- No, thank you."),
        ("Good night!",),
    ]


def test_translations_are_divided_among_cues_and_lines() -> None:
    german = {
        "I think that you are wrong.": "Ich glaube, du irrst dich.",
        "When I was young, I lived in a small house near the river.": (
            "Als ich jung war, lebte ich in einem kleinen Haus am Fluss."
        ),
        "- Are you hungry?": "- Hast du Hunger?",
        "- No, thank you.": "- Nein, danke.",
        "Good night!": "Gute Nacht!",
    }
    found = translated(SRT, lambda line: german.get(line, line)).split("\n\n")
    assert found[0].endswith("\nIch glaube,\ndu irrst dich.")
    assert found[1].endswith("07,000\n<i>Als ich jung war,\nlebte ich in einem</i>")
    assert found[2].endswith("09,000\n<i>kleinen Haus am Fluss.</i>")
    assert found[3].endswith("12,000\n- Hast du Hunger?\n- Nein, danke.")
    assert found[4:] == ["5\n00:00:13,000 --> 00:00:15,000", "6\n00:00:16,000 --> 00:00:17,000\n{\\an8}Gute Nacht!\n"]


def test_headers_notes_and_settings_of_webvtt_are_copied() -> None:
    assert texts(VTT) == [("Tom & I are here.",)]
    assert translated(VTT, lambda line: "Tom < ich." if line else line) == VTT.replace(
        "Tom &amp; I <00:02.000>are here.", "Tom &lt; ich."
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "\n", "\n\n\n", "\n7\n", "7\n00:00:18,000 --> 00:00:19,000\n"])
def test_everything_but_the_text_is_kept(end: str, tail: str) -> None:
    """Cues whose lines a translation of the same words is wrapped to again."""
    content = ("1\n00:01,5 --> 00:02,5\none\n\n2\n00:03,0 --> 00:04,0\nTwo, three\nfour five.\n" + tail).replace(
        "\n", end
    )
    assert translated(content) == content
    assert translated("\ufeff" + content) == content
    assert translated(content.rstrip("\r\n")) == content.rstrip("\r\n")


def test_a_number_after_a_text_belongs_to_the_next_cue() -> None:
    content = "1\n00:01,0 --> 00:02,0\nOne.\n2\n00:03,0 --> 00:04,0\nTwo.\n00:05,0 --> 00:06,0\nThree.\n"
    assert texts(content) == [("One.",), ("Two.",), ("Three.",)]
    assert translated(content) == content


def test_sentences_end_at_four_cues_and_where_a_cue_ends_or_begins_one() -> None:
    def cues(*lines: str) -> list[tuple[str, ...]]:
        return texts("".join(f"00:0{number}.0 --> 00:0{number}.5\n{line}\n\n" for number, line in enumerate(lines)))

    assert cues("a", "b", "c", "d", "e") == [("a b c d",), ("e",)]
    assert cues("We left.", "and came") == [("We left.",), ("and came",)]
    assert cues("We left", "Tom came") == [("We left",), ("Tom came",)]
    assert cues("<b>We left</b>", "<i>and came</i>") == [("We left and came",)]


def test_a_translation_of_too_few_words_leaves_later_parts_empty() -> None:
    content = "00:01.0 --> 00:02.0\nat this\n\n00:03.0 --> 00:04.0\npoint in time.\n"
    assert translated(content, lambda line: "jetzt" if line else "") == (
        "00:01.0 --> 00:02.0\njetzt\n\n00:03.0 --> 00:04.0\n\n"
    )
    chinese = translated(content, lambda line: "此时此刻" if line else "")
    assert chinese == "00:01.0 --> 00:02.0\n此\n\n00:03.0 --> 00:04.0\n时此刻\n"


def test_any_text_is_read_and_keeps_its_times() -> None:
    draw = random.Random(3)
    parts = [
        "1",
        "00:01,0 --> 00:02,0",
        "",
        " ",
        "A b.",
        "c d",
        "- e",
        "<i>",
        "f</i>",
        "{\\an8}",
        "\r",
        "WEBVTT",
        "-->",
        "\u2028",
    ]
    for _ in range(500):
        content = "\n".join(draw.choices(parts, k=draw.randint(0, 14)))
        found = translated(content, lambda line: line.upper())
        assert found.count("00:01,0 --> 00:02,0") == content.count("00:01,0 --> 00:02,0")
        assert found.count("\n") <= content.count("\n")


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.srt, line 3: not UTF-8"):
        list(read_units([b"1\n00:01,0 --> 00:02,0\nL\xf6we\n"], "x.srt"))
