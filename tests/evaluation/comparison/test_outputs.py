"""Agreement of texts, and faults of a text by itself."""

import pytest

from pocketmt.evaluation.comparison.outputs import agree, find_faults, histogram, most_changed, repeats, sentence_chrf


@pytest.mark.parametrize(
    "text",
    [
        "rot rot rot",
        "Ein Mann Ein mann, ein Mann ein Mann ein Mann",
        "a b c d a b c d a b c d",
        "猫猫猫",
        "no no no no",
    ],
)
def test_three_in_a_row_are_a_repetition(text: str) -> None:
    assert repeats(text)
    assert repeats(f"Davor steht {text} und mehr.")


@pytest.mark.parametrize(
    "text",
    ["", "rot, rot", "wait ... wait", "- - - - -", "ein Mann und ein Mann sehen einen Mann", "a b a b", "1 2 1 2 1"],
)
def test_other_texts_are_none(text: str) -> None:
    assert not repeats(text)


def test_faults_are_counted_by_line() -> None:
    sources = ["one two three four five six seven eight", "no no no", "one two", "one", ""]
    faults = find_faults(sources, ["eins", "nein nein nein", "x " * 40, " ", ""])
    assert (faults.repeated, faults.too_short, faults.too_long, faults.empty) == (1, 1, 1, 1)


def test_equal_texts_agree_also_without_words() -> None:
    agreed = agree(["", "Ein Mann.", "!"], ["", "Ein Mann.", "!"])
    assert (agreed.identical, agreed.bleu, agreed.chrf) == (1, 100, 100)
    assert sentence_chrf(["", "Ein Mann."], ["", "Ein Mann."]) == [100, 100]
    assert sentence_chrf(["", "Ein Mann."], ["Ein", ""]) == [0, 0]


def test_the_least_similar_lines_come_first() -> None:
    originals, others = ["a b c", "same", "Ein Mann", "Ein Hund"], ["x y z", "same", "Ein Mannes", "Ein Hand"]
    scores = sentence_chrf(originals, others)
    changed = most_changed(["s0", "s1", "s2", "s3"], originals, others, [["r0", "r1", "r2", "r3"]], scores, 2)
    assert [each.line for each in changed] == [1, 4]
    assert changed[0].references == ("r0",)
    assert sum(histogram(scores)) == 4
    assert histogram([0, 9.9, 10, 99, 100]) == (2, 1, 0, 0, 0, 0, 0, 0, 0, 2)
