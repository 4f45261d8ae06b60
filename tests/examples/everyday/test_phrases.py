"""Words and phrases of parallel text with their translations."""

from pathlib import Path

import pytest

from examples.everyday.phrases import Aligner, Phrase, PhraseCounts, Side, find_phrases, main, training_pairs

NOUNS = {"dog": "Hund", "cat": "Kater", "boy": "Junge", "man": "Mann"}
VERBS = {"sees": "sieht", "hears": "hört", "likes": "mag"}
NAMES = {"Tom": "Tom", "Mary": "Maria"}
PAIRS = [
    pair
    for noun, german in NOUNS.items()
    for verb, german_verb in VERBS.items()
    for name, german_name in NAMES.items()
    for pair in (
        (f"The {noun} {verb} {name}.", f"Der {german} {german_verb} {german_name}."),
        (f"{name} {verb} the {noun}.", f"{german_name} {german_verb} den {german}."),
        (f"Now, {name} {verb} it.", f"Jetzt, {german_name} {german_verb} es."),
    )
]


def sides(pairs: list[tuple[str, str]] = PAIRS) -> tuple[Side, Side]:
    return Side(source for source, _ in pairs), Side(target for _, target in pairs)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({0: 0, 1: 1}, [("a", "x"), ("a b", "x y"), ("b", "y")]),
        ({0: 1, 1: 0}, [("a", "y"), ("a b", "x y"), ("b", "x")]),
        ({0: 0, 2: 1}, [("a", "x"), ("c", "y")]),  # "b" is linked to nothing
        ({0: 0, 1: 2, 2: 1}, [("a", "x"), ("a b c", "x y z"), ("b", "z"), ("b c", "y z"), ("c", "y")]),
    ],
)
def test_phrases_are_those_that_the_links_allow(links: dict[int, int], expected: list[tuple[str, str]]) -> None:
    found = find_phrases(["a", "b", "c"], ["x", "y", "z"], links)
    assert sorted(each.phrase for each in found) == sorted(Phrase(*each) for each in expected)


def test_phrases_have_no_punctuation_and_at_most_three_words() -> None:
    words = ["a", "b", ",", "c", "d", "e", "f"]
    found = [each.phrase for each in find_phrases(words, words, {place: place for place in range(7)})]
    assert all(one == other for one, other in found)
    assert {each.source for each in found} == {*"abcdef", "a b", "c d", "d e", "e f", "c d e", "d e f"}


def test_a_phrase_is_alone_between_punctuation_on_both_sides() -> None:
    found = {each.phrase.source: each for each in find_phrases(["no", ",", "b"], ["nein", ",", "y"], {0: 0, 2: 2})}
    assert found["no"].is_alone and found["b"].is_alone
    assert not found["no"].is_within and found["b"].is_within
    found = {each.phrase.source: each for each in find_phrases(["no", "b"], ["nein", "y"], {0: 0, 1: 1})}
    assert not found["no"].is_alone and not found["b"].is_alone and found["no b"].is_alone


def test_words_are_linked_to_their_translations() -> None:
    source, target = sides()
    aligner = Aligner(source, target)
    links = aligner.links(source.ids[0], target.ids[0])
    words = {source.sentences[0][one]: target.sentences[0][other] for one, other in links.items()}
    assert words["dog"] == "Hund" and words["Tom"] == "Tom" and words["sees"] == "sieht"


def test_phrases_have_their_usual_case_and_the_translation_that_they_have_alone() -> None:
    within = [(f"I have no {noun}.", f"Ich habe keinen {NOUNS[noun]}.") for noun in NOUNS] * 8
    alone = [(f"No, {name}.", f"Nein, {NAMES[name]}.") for name in NAMES] * 4
    found = {each.source: each.target for each in PhraseCounts(*sides([*PAIRS, *within, *alone])).best()}
    assert found["dog"] == "Hund" and found["sees"] == "sieht" and found["Tom"] == "Tom"
    assert found["no"] == "nein"  # which is more often "keinen" within sentences


def test_rare_phrases_are_left_out() -> None:
    pairs = [*PAIRS, ("Tom hears the bird.", "Tom hört den Vogel.")] * 2
    found = {each.source for each in PhraseCounts(*sides(pairs)).best()}
    assert "cat" in found and "bird" not in found


def test_single_words_occur_several_times_and_labels_begin_with_a_capital() -> None:
    found = list(training_pairs([Phrase("dog", "Hund"), Phrase("the dog", "der Hund")]))
    assert found == [Phrase("dog", "Hund")] * 4 + [Phrase("Dog", "Hund")] * 4 + [
        Phrase("the dog", "der Hund"),
        Phrase("The dog", "Der Hund"),
    ]


def test_the_command_writes_parallel_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for index, name in enumerate(("a.en", "a.de")):
        (tmp_path / name).write_text("".join(f"{pair[index]}\n" for pair in PAIRS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["phrases", "a.en", "a.de", "-o", "b.en", "b.de"])
    assert main() == 0
    source, target = ((tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("b.en", "b.de"))
    assert len(source) == len(target) and ("cat", "Kater") in zip(source, target, strict=True)
    monkeypatch.setattr("sys.argv", ["phrases", "a.en", "missing", "-o", "c.en", "c.de"])
    assert main() == 1
    assert "missing" in capsys.readouterr().err
    assert not (tmp_path / "c.en").exists()
