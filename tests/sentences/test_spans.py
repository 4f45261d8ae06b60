"""Parts of a line that are translated or copied, in time proportional to its length."""

import pytest

from pocketmt.sentences import Reason, translation_spans


def spans(
    line: str, *, split: bool = True, longest: int = 50_000, protect: bool = False
) -> list[tuple[str, str | None]]:
    """Return the text of each span, and that of its reason."""
    found = translation_spans(line, "en", split=split, longest=longest, protect=protect)
    return [(line[span.start : span.end], None if span.reason is None else span.reason.text) for span in found]


def test_sentences_without_words_are_copied() -> None:
    assert spans(" Go!\nhttp://a.b/c\n25\n") == [("Go!", None), ("http://a.b/c", ""), ("25", "")]
    assert spans("A man runs. 25. {name}") == [("A man runs.", None), ("25. {name}", "")]
    assert spans("  http://a.b/c ", split=False) == [("http://a.b/c", "")]


def test_a_sentence_beyond_the_limit_is_copied_with_a_reason() -> None:
    long = ("Word " * 10).strip()
    line = f"A man runs. {long}"
    reason = "a sentence has 49 characters; the limit is 20"
    assert spans(line, longest=20) == [("A man runs.", None), (long, reason)]
    *_, last = translation_spans(line, "en", split=True, longest=20)
    assert last.reason == Reason(reason, argument="longest_sentence")


def test_a_word_beyond_the_limit_is_cut_out() -> None:
    word = "x" * 1001
    [before, (found, reason), after] = spans(f"A man {word} runs 5 times.")
    assert (before, found, after) == (("A man", None), word, ("runs 5 times.", None))
    assert reason == "a word has 1,001 characters; the limit is 1,000"
    assert spans("x" * 1000) == [("x" * 1000, None)]
    assert spans("日" * 2000) == [("日" * 2000, None)]


def test_protected_parts_divide_sentences() -> None:
    line = "Dear {name}, read http://a.b/c. It has 25 pages 😀 ."
    assert [text for text, _ in spans(line)] == ["Dear {name}, read http://a.b/c.", "It has 25 pages 😀 ."]
    assert spans(line, protect=True) == [
        ("Dear", None),
        ("{name},", ""),
        ("read", None),
        ("http://a.b/c.", ""),
        ("It has 25 pages", None),
        ("😀", ""),
        (".", ""),
    ]
    assert spans("{name} is here", protect=True) == [("{name}", ""), ("is here", None)]
    assert spans("25. {name}", protect=True) == spans("25. {name}")


def test_what_is_no_text_is_copied_with_a_reason() -> None:
    [(_, reason)] = spans("\ufffd\x01\ufffd\ufffd ab\ufffd\ufffdc\ufffd\ufffd\ue000 d")
    assert reason == "9 of 13 characters are not text"
    assert spans("caf\ufffd is open") == [("caf\ufffd is open", None)]


RUNS = [
    ".",
    ". ",
    " ",
    '"',
    "a",
    "1",
    "%0",
    "{",
    "<a",
    "www.",
    "a@",
    "「。",
    "。",
    "?'",
    "\n",
    "A. ",
    "$",
    "\x00",
    "ok. ",
]


@pytest.mark.parametrize("run", RUNS)
def test_long_runs_take_time_in_proportion(run: str) -> None:
    # An algorithm of quadratic time would need minutes.
    line = f"A. b {run * (200_000 // len(run))} c"
    assert "".join(text for text, _ in spans(line)).replace(" ", "") == "".join(line.split())
