"""The choice of pieces, and alignments written by other tools."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pocketmt.errors import DataError
from pocketmt.text.shortlist import choose_pieces, encode_pairs, read_links
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary
from pocketmt.text.translation_table import TranslationTable
from pocketmt.text.vocabulary import EOS, Vocabularies, Vocabulary, load_vocabularies
from pocketmt.text.vocabulary_training import train_vocabulary
from tests.foreign_vocabularies import sentencepiece_model

PIECES = 10
TEXT = [("the red house", "das rote Haus"), ("a house", "ein Haus")]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return train_vocabulary([side for pair in TEXT * 50 for side in pair], 40)


@pytest.fixture(scope="module")
def vocabularies(vocabulary: Vocabulary) -> Vocabularies:
    return Vocabularies(vocabulary, vocabulary)


@pytest.fixture(scope="module")
def few() -> Vocabularies:
    """Ten pieces."""
    vocabulary = train_vocabulary(["ab bc ca"] * 20, PIECES)
    return Vocabularies(vocabulary, vocabulary)


def test_the_most_probable_and_the_most_frequent(few: Vocabularies) -> None:
    # Piece 5 has targets 6, 7 and 8; eos (2) has 3 (unk), which is never listed, and 9.
    keys, probabilities = np.array([23, 29, 56, 57, 58]), np.array([0.6, 0.4, 0.2, 0.5, 0.3])
    counts = np.array([9, 9, 9, 9, 1, 4, 3, 4, 0, 0])
    frequent, targets = choose_pieces(TranslationTable(keys, probabilities, PIECES), counts, 2, 2, few)
    assert frequent == [5, 7]
    assert targets[5] == [7, 8]
    assert targets[EOS] == [9]
    assert targets[6] == [6], "what the text does not have stays as it is"
    assert targets[0] == targets[1] == targets[3] == []


def test_no_more_frequent_pieces_than_the_text_has(few: Vocabularies) -> None:
    table = TranslationTable(np.array([56]), np.array([1.0]), PIECES)
    assert choose_pieces(table, np.array([5, 0, 0, 0, 0, 0, 2, 0, 0, 0]), 1, 5, few)[0] == [6]


def test_two_vocabularies_with_special_ids_anywhere() -> None:
    """A source piece without targets has the target's piece that is written alike, if there is one."""
    model = sentencepiece_model(("ab bc ca",) * 20, 9)
    source = StoredVocabulary(model, ("a", "<unk>", "b", "</s>", "c"), "none")
    target = StoredVocabulary(model, ("</s>", "x", "<unk>", "b", "a", "y", "z"), "none", ("z",))
    sides = StoredVocabularies(source, target)
    vocabularies = load_vocabularies(sides, SpecialIds(None, None, 3, 1), SpecialIds(None, None, 0, 2))
    # Source piece 3 (eos) has targets 5 and 0 (eos); 2 has 2 (unk).
    table = TranslationTable(np.array([2 * 7 + 2, 3 * 7, 3 * 7 + 5]), np.array([1.0, 0.5, 0.5]), 7)
    frequent, targets = choose_pieces(table, np.array([9, 2, 9, 0, 1, 3, 9]), 2, 2, vocabularies)
    assert frequent == [1, 5], "neither special pieces nor those that are found in raw text"
    assert targets == [[4], [], [], [5], []]
    assert next(encode_pairs(vocabularies, [("a", "b")]))[0][-1] == 3


def test_sources_end_in_eos(vocabulary: Vocabulary, vocabularies: Vocabularies) -> None:
    (source, target), (empty, _) = encode_pairs(vocabularies, [("a house", "ein Haus"), (" ", "Haus")])
    assert source == [*vocabulary.encode("a house"), EOS]
    assert target == vocabulary.encode("ein Haus")
    assert empty == []


def links(vocabulary: Vocabulary, path: Path, text: Iterable[tuple[str, str]] = TEXT) -> list[set[tuple[int, int]]]:
    vocabularies = Vocabularies(vocabulary, vocabulary)
    found = read_links(path, vocabularies, text)
    return [set(zip(source.tolist(), target.tolist(), strict=True)) for source, target in found]


def test_all_pieces_of_linked_words_are_linked(vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "links"
    path.write_text("0-0 2-2\n1-1 \n")
    of = {word: vocabulary.encode(word) for pair in TEXT for line in pair for word in line.split()}
    first, second = links(vocabulary, path)
    house = {(source, target) for source in of["house"] for target in of["Haus"]}
    assert first == {(source, target) for source in of["the"] for target in of["das"]} | house
    assert second == house


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("0-0\n", "ends after line 1"),
        ("0-0\n0-0\n0-0\n", "more lines than the text, which has 2"),
        ("0-0\n0~0\n", "line 2: '0~0' is not a link: expected i-j"),
        ("0-0\n0-\n", "line 2: '0-' is not a link"),
        ("0-0\n2-0\n", r"line 2: 2-0 names a word that is not there \(2 and 2 words\)"),
        ("0-3\n0-0\n", r"line 1: 0-3 names a word that is not there \(3 and 3 words\)"),
        ("0-99999999999999999999\n0-0\n", "is not a link"),
        ("\n\n", "has no links"),
    ],
)
def test_alignments_that_do_not_fit(vocabulary: Vocabulary, tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "links"
    path.write_text(content)
    with pytest.raises(DataError, match=reason):
        links(vocabulary, path)


@pytest.mark.parametrize(
    "before",
    [
        "don´t",
        "´",
        "\u200b",
        "\u00ad ¨",
        "日本",
        "\t a ",
        "▁",
        "a▁a ▁▁",
        "\u200b a▁a",
        "a\u200ba",
        "\u200eä",
        "\u00ad a\u00ada",
    ],
)
def test_normalization_changes_no_number_of_a_word(vocabulary: Vocabulary, tmp_path: Path, before: str) -> None:
    """Aligners count the words of the text that is given; "´" becomes a space and an accent."""
    path = tmp_path / "links"
    place = len(before.split())
    path.write_text(f"{place}-{place + 1}\n")
    [found] = links(vocabulary, path, [(f"{before} house a", f"{before} das Haus")])
    source, target = (vocabulary.encode(f"{before} {text}") for text in ("house a", "das Haus"))
    house, haus = vocabulary.encode("house"), vocabulary.encode("Haus")
    assert set(house) <= set(source) and set(haus) <= set(target)
    assert found == {(left, right) for left in house for right in haus}


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2009", "\x1f"])
def test_white_space_where_aligners_differ_is_refused(vocabulary: Vocabulary, tmp_path: Path, space: str) -> None:
    """fast_align divides words at spaces and tabs, eflomal at all white space."""
    path = tmp_path / "links"
    path.write_text("0-0\n0-0\n")
    with pytest.raises(DataError, match=r"links, line 2: the text has white space other than .* replace it"):
        links(vocabulary, path, [TEXT[0], ("a house", f"ein{space}Haus")])


def test_pieces_of_several_words_have_no_links(tmp_path: Path) -> None:
    model = sentencepiece_model(
        ("ab bc ca",) * 20, 20, "bpe", split_by_whitespace=False, pad_id=0, bos_id=1, eos_id=2, unk_id=3
    )
    path = tmp_path / "links"
    path.write_text("0-0\n")
    with pytest.raises(DataError, match="line 1: the vocabulary has pieces with parts of several words"):
        links(Vocabulary(model), path, [("ab bc ca", "ab bc ca")])
