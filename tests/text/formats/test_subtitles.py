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
    assert translated("\ufeff" + content) == "\ufeff" + content
    assert translated(content.rstrip("\r\n")) == content.rstrip("\r\n")


def test_a_number_after_a_text_belongs_to_the_next_cue() -> None:
    content = "1\n00:01,0 --> 00:02,0\nOne.\n2\n00:03,0 --> 00:04,0\nTwo.\n00:05,0 --> 00:06,0\nThree.\n"
    assert texts(content) == [("One.",), ("Two.",), ("Three.",)]
    assert translated(content) == content


def cues(*texts_of_cues: str, pause: int = 0) -> str:
    """Return a file with cues of a second, and a pause between them."""
    times = (number * (1 + pause) for number in range(len(texts_of_cues)))
    return "".join(
        f"00:{time // 60:02}:{time % 60:02},000 --> 00:{(time + 1) // 60:02}:{(time + 1) % 60:02},000\n{text}\n\n"
        for time, text in zip(times, texts_of_cues, strict=True)
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["a", "b", "c", "d", "e"], ["a b c d", "e"]),
        (["We left.", "and came"], ["We left.", "and came"]),
        (["We left", "Tom came"], ["We left", "Tom came"]),
        (["Do you know what", "I did?"], ["Do you know what I did?"]),
        (["We left,", "Tom came"], ["We left, Tom came"]),
        (["<b>We left</b>", "<i>and came</i>"], ["We left and came"]),
        (["I THINK THAT", "WE LEFT"], ["I THINK THAT WE LEFT"]),
        (["我认为", "我们走了。"], ["我认为 我们走了。"]),
        (["I was going to...", "...tell you."], ["I was going to tell you."]),
        (["I was going to...", "tell you."], ["I was going to tell you."]),
        (["I was going to...", "Tom came"], ["I was going to...", "Tom came"]),
        (["<v Fred>I am Fred", "<v Ann>and I am Ann"], ["I am Fred", "and I am Ann"]),
        (["[noise]", "and came"], ["[noise]", "and came"]),
        (["- a", "b\n- c\n- d", "e"], ["- a b", "- c", "- d e"]),
    ],
)
def test_where_a_sentence_goes_on(parts: list[str], expected: list[str]) -> None:
    assert [text for unit in texts(cues(*parts)) for text in unit] == expected
    assert translated(cues(*parts)) == cues(*parts)


def test_a_sentence_ends_with_a_long_pause() -> None:
    assert texts(cues("we go", "home", pause=2)) == [("we go home",)]
    assert texts(cues("we go", "home", pause=9)) == [("we go",), ("home",)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["- What do you", "mean by that?", "- Nothing."], ["- What do you mean by that?", "- Nothing."]),
        (["How are you?", "- Fine."], ["How are you?", "- Fine."]),
        (["JOHN: Where is", "the dog?", "MARY: There."], ["Where is the dog?", "There."]),
        (["♪ I love the river ♪", "♪ And the river ♪"], ["♪ I love the river ♪", "♪ And the river ♪"]),
        (["1. Bread", "2. Butter"], ["1. Bread", "2. Butter"]),
        (["(SIGHS)", "I am tired"], ["(SIGHS)", "I am tired"]),
        (["No.", "Yes, it is"], ["No.", "Yes, it is"]),
        (["I saw Mr.", "Smith."], ["I saw Mr. Smith."]),
        (["I <i>really</i> love", "you."], ["I really love you."]),
        (["<v Ann>one", "<v Bob>two"], ["one", "two"]),
        (["<00:01.500><c> the</c><00:02.000><c> big</c> dog"], ["the big dog"]),
        (["<b>Tom &amp; &lt;Mary&gt;</b>"], ["Tom & <Mary>"]),
        (["You < me > us"], ["You < me > us"]),
        (["<i>one</i> <b>two</b><br/>three"], ["one two three"]),
        ([r"{\i1}We left\Nus.{\i0}"], ["We left us."]),
    ],
)
def test_the_parts_of_a_cue(lines: list[str], expected: list[str]) -> None:
    content = cues("\n".join(lines))
    assert texts(content) == [tuple(expected)]
    assert translated(content) == content


@pytest.mark.parametrize(
    ("text", "translation", "expected"),
    [
        ('<font color="#ff0">I waited</font>\n<font color="#ff0">all day.</font>', "Ich habe den ganzen Tag gewartet.",
         '<font color="#ff0">Ich habe den ganzen\nTag gewartet.</font>'),
        ("I <i>really</i> love you.", "Ich liebe dich.", "Ich liebe dich."),
        ("<i>Really</i>, I <b>do</b>", "Wirklich", "Wirklich"),
        ("<v.loud Ann>a <c.red>big</c> dog</v>", "ein Hund", "<v.loud Ann>ein Hund</v>"),
        ("{\\an8}<i>Good night</i>", "Gute Nacht", "{\\an8}<i>Gute Nacht</i>"),
        ("{\\i1}Good{\\i0} night", "Gute Nacht", "Gute Nacht"),
        ("{\\an8}{\\i1}Good night{\\i0}", "Gute Nacht", "{\\an8}{\\i1}Gute Nacht{\\i0}"),
        ("Tom &amp; me", "Tom < ich", "Tom &lt; ich"),
        ("JOHN: Stop!", "Halt!", "JOHN: Halt!"),
        ("价格是多少\n元", "一二三四1234567五六", "一二三四\n1234567五六"),
        ("at this\npoint", "jetzt", "jetzt"),
    ],
)  # fmt: skip
def test_translations_with_tags(text: str, translation: str, expected: str) -> None:
    assert translated(cues(text), lambda line: translation if line else "") == cues(expected)


def test_ellipses_stay_where_a_sentence_is_divided() -> None:
    content = cues("I was going to...", "...tell you.")
    assert translated(content, lambda line: "Ich wollte es dir sagen." if line else "") == cues(
        "Ich wollte es...", "...dir sagen."
    )
    content = cues("We went home...", "...because it rained.")
    assert translated(content, lambda line: "Wir gingen, weil es regnete." if line else "") == cues(
        "Wir gingen...", "...weil es regnete."
    )


def test_a_translation_of_too_few_words_leaves_later_parts_empty() -> None:
    content = cues("at this", "point in time.")
    assert translated(content, lambda line: "jetzt" if line else "") == cues("jetzt", "")
    assert translated(content, lambda line: "此时此刻" if line else "") == cues("此", "时此刻")


@pytest.mark.parametrize(
    "times",
    [
        "00:00:36 --> 00:00:37", "00:00:01:000 --> 00:00:02:000", "00: 00: 01, 000 --> 00: 00: 02, 000",
        "00:00:01,000 -> 00:00:02,000", "-00:00:01,000 --> 00:00:02,000", "100:00:01,5-->100:00:02,5 X1:40 X2:600",
    ],
)  # fmt: skip
def test_times_of_many_programs(times: str) -> None:
    assert texts(f"1\n{times}\nOne.\n") == [("One.",)]


@pytest.mark.parametrize("reference", ["&#10;", "&NewLine;", "&#13;", "&#x2028;", "&nbsp;&#32;"])
def test_references_to_line_breaks_are_spaces(reference: str) -> None:
    content = f"1\n00:01,0 --> 00:02,0\nTom &amp;{reference}Bob.\n\n2\n00:03,0 --> 00:04,0\n&#10;\n"
    assert texts(content) == [("Tom & Bob.",)]
    assert translated(content) == content
    assert translated(content, str.upper) == content.replace(f"Tom &amp;{reference}Bob.", "TOM &amp; BOB.")


def test_numbers_have_any_number_of_digits() -> None:
    digits = "9" * 5_000
    content = f"1\n{digits}:{digits}:{digits} --> 00:00:02\nOne {{\\i{digits}}}&#{digits}; two.\n"
    assert texts(content) == [("One \ufffd two.",)]
    assert translated(content) == content


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_within_a_cue(end: str) -> None:
    srt = end.join(
        ["1", "00:01,0 --> 00:02,0", "", "We left", "", "and came.", " ", "", "2", "00:03,0 --> 00:04,0", "No."]
    )
    assert texts(srt) == [("We left", "and came."), ("No.",)]
    assert translated(srt) == srt
    vtt = end.join(
        ["WEBVTT", "", "00:01.0 --> 00:02.0", " ", "We left", "", "NOTE and", "", "00:03.0 --> 00:04.0", "No."]
    )
    assert texts(vtt) == [("We left",), ("No.",)]
    assert translated(vtt, str.upper) == vtt.replace("We left", "WE LEFT").replace("No.", "NO.")


def test_any_text_is_read_and_keeps_its_times() -> None:
    draw = random.Random(3)
    time = "00:01,0 --> 00:02,0"
    parts = ["1", time, time, "", " ", "A b.", "c d", "- e", "<i>", "f</i>", "{\\an8}", "\r", "x -->", "\u2028", "..."]
    parts += ["<i", "a <b", "and c> d", "{\\an8", "}", "a>"]
    for _ in range(1000):
        content = "\n".join(["x -->", *draw.choices(parts, k=draw.randint(0, 14))])
        if "\r" not in content:  # Lines of a cue with other ends get the same.
            assert translated(content) == content
        found = translated(content, lambda line: line.upper())
        assert found.count(time) == content.count(time)


def test_a_tag_does_not_go_on_on_the_next_line() -> None:
    cue = "1\n00:01,0 --> 00:02,0\n"
    assert texts(f"{cue}if a <b\nand c> d\n") == [("if a <b and c> d",)]
    assert translated(f"{cue}<i\na>\n") == f"{cue}<i\na>\n"


def test_a_byte_order_mark_stays() -> None:
    content = "\ufeff1\n00:01,0 --> 00:02,0\nA dog.\n"
    assert translated(content, str.upper) == content.replace("A dog.", "A DOG.")


def test_the_time_is_proportional_to_the_text() -> None:
    """A quadratic one would take minutes."""
    start = "1\n00:01,0 --> 00:02,0\n"
    lines = ["a\n" * 60_000, "a" + "<b>" * 60_000 + "x\n", f"a{' ' * 100_000}b\n", "- a\n" * 60_000, "<" * 60_000]
    spaces, dots = " " * 60_000, "." * 200_000
    for text in (*lines, f"{spaces}\nx\n", f"1:00 -->{spaces}x\n", f"{dots}b\n\n{start}{dots}c\n"):
        assert len(translated(start + text, lambda line: line.upper())) <= len(start + text)


@pytest.mark.parametrize("content", ["some text", "1\n2\n", "Chapter 1:30\nof a book"])
def test_a_file_without_times_is_refused(content: str) -> None:
    with pytest.raises(DataError, match=r"x\.srt: no times such as 00:00:01,000 --> 00:00:04,000"):
        texts(content)
    assert translated("") == ""
    assert translated(" \n\n") == " \n\n"
    assert translated("WEBVTT\n\nNOTE nothing\n") == "WEBVTT\n\nNOTE nothing\n"


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.srt, line 3: not UTF-8"):
        list(read_units([b"1\n00:01,0 --> 00:02,0\nL\xf6we\n"], "x.srt"))
