"""Results of lines: alignments of words, several sentences, prefixes, and replaced unknown words."""

from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.alignment import copied_alignment, divide_at_spaces, join_alignments, make_alignment
from pocketmt.engine.results import source_pieces
from pocketmt.text.vocabulary import Vocabulary

ALIGNMENT = make_alignment(
    ["▁the", "▁re", "d", "▁", "犬", "."],
    ["▁der", "▁ro", "te", "▁Hund", "."],
    (
        (0.6, 0.1, 0.1, 0.0, 0.1, 0.0),
        (0.3, 0.2, 0.2, 0.0, 0.1, 0.0),
        (0.0, 0.1, 0.4, 0.0, 0.1, 0.0),
        (0.0, 0.0, 0.2, 0.1, 0.5, 0.1),
        (0.1, 0.0, 0.0, 0.0, 0.0, 0.8),
    ),
)


def test_words_and_links_computed_by_hand() -> None:
    assert ALIGNMENT.source_words == ("the", "red", "犬.")
    assert ALIGNMENT.target_words == ("der", "rote", "Hund.")
    assert ALIGNMENT.piece_links() == [(0, 0), (0, 1), (2, 2), (4, 3), (5, 4)]
    # "rote": 0.3 on "the", 0.2 + 0.2 + 0.1 + 0.4 on "red".
    assert ALIGNMENT.word_links() == [(0, 0), (1, 1), (2, 2)]
    assert ALIGNMENT.pharaoh() == "0-0 1-1 2-2"


def test_pieces_with_several_words_are_divided_by_hand() -> None:
    given = make_alignment(
        ["▁It", "▁5 €", "▁{{ x }}", "."], ["▁5 €", "▁da", "."], ((0.25, 0.5, 0.0, 0.25), (1.0,) * 4, (0.0,) * 4)
    )
    divided = divide_at_spaces(join_alignments([ALIGNMENT, given]))
    assert divided.source_words == (*ALIGNMENT.source_words, "It", "5", "€", "{{ x }}.")
    assert divided.target_words == (*ALIGNMENT.target_words, "5", "€", "da.")
    assert divided.sentence_attention[5:7] == ((6, (0.25, 0.25, 0.25, 0.0, 0.25)),) * 2
    assert divided.sentence_attention[7] == (6, (1.0, 0.5, 0.5, 1.0, 1.0))
    assert divided.sentence_attention[:5] == ALIGNMENT.sentence_attention
    assert divide_at_spaces(ALIGNMENT) == ALIGNMENT


def test_places_are_counted_through_the_sentences_of_a_line() -> None:
    joined = join_alignments([ALIGNMENT, make_alignment([], [], ()), ALIGNMENT])
    assert joined.source_words == ALIGNMENT.source_words * 2
    assert joined.target_words == ALIGNMENT.target_words * 2
    assert joined.pharaoh() == "0-0 1-1 2-2 3-3 4-4 5-5"
    assert joined.attention[5][:6] == (0.0,) * 6
    assert joined.attention[5][6:] == ALIGNMENT.attention[0]
    assert {len(row) for row in joined.attention} == {12}


def test_a_piece_without_letters_is_no_word() -> None:
    alignment = make_alignment(["▁", "▁a", "▁", "b", "c"], ["x", "▁", "▁", "▁y"], ((0.2,) * 5,) * 4)
    assert alignment.source_words == ("a", "bc")
    assert alignment.target_words == ("x", "y")
    alignment = make_alignment(["▁a", "▁", "▁"], ["▁"], ((0.2,) * 3,))
    assert alignment.source_words == ("a",) and alignment.target_words == ("",)
    assert make_alignment([], ["▁x"], ((),)).word_links() == []


def test_copied_sentences_count_as_words() -> None:
    """Places are those of the words of the line as it is written."""
    copied, text = "12 34.", "A dog runs. 12 34. A cat sleeps."
    [[best]] = Translator("everyday-en-de").translate_detailed([text])
    assert best.alignment is not None
    assert best.alignment.source_words == tuple(text.split())
    assert best.alignment.target_words == tuple(best.text.split())
    assert copied in best.text
    links = dict(best.alignment.word_links())
    assert (links[3], links[4]) == (3, 4)
    assert {source for source in links if source > 4} <= {5, 6, 7}
    [[alone]] = Translator("everyday-en-de").translate_detailed([copied])
    assert alone.alignment is not None and alone.alignment.pharaoh() == "0-0 1-1"


LINES = ["the man rides a bike.  two dogs in the house. a red book!", "", "a dog"]


@pytest.fixture
def translator(model_path: Path) -> Translator:
    return Translator(model_path)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_details_of_lines(translator: Translator, beam_size: int) -> None:
    found = translator.translate_detailed(LINES, n_best=beam_size, beam_size=beam_size, max_length=12)
    plainly = translator.translate_n_best(LINES, beam_size, beam_size=beam_size, max_length=12)
    assert [[(each.text, each.score) for each in line] for line in found] == [
        [(each.text, each.score) for each in line] for line in plainly
    ]
    assert [line[0].text for line in found] == translator.translate(LINES, beam_size=beam_size, max_length=12)
    for line, [best, *_] in zip(LINES, found, strict=True):
        assert best.alignment is not None
        assert len(best.pieces) == len(best.token_scores) == len(best.alignment.attention)
        assert all(score <= 0 for score in best.token_scores)
        assert list(best.alignment.source_words) == line.split()
        assert list(best.alignment.target_words) == best.text.split()
        assert [target for _, target in best.alignment.word_links()] == list(range(len(best.text.split())))
        assert all(0 < sum(row) < 1.001 for row in best.alignment.attention)
    assert found[1][0].text == ""
    without = translator.translate_detailed(LINES, alignment=False, max_length=12)
    assert all(each.alignment is None for line in without for each in line)


def test_a_prefix_begins_the_first_sentence(translator: Translator) -> None:
    sentences = ["the man rides a bike.", "two dogs in the house."]
    line = "  ".join(sentences)
    prefix = "a big dog"
    [plain_second] = translator.translate(sentences[1:])
    for beam_size in (1, 4):
        [together, blank] = translator.translate([line, ""], target_prefix=prefix, beam_size=beam_size)
        [alone] = translator.translate(sentences[:1], target_prefix=prefix, beam_size=beam_size)
        [second] = translator.translate(sentences[1:], beam_size=beam_size)
        assert alone.startswith(prefix)
        assert together == f"{alone}  {second}"
        assert blank == ""
    assert translator.translate([line, "", "a dog"], target_prefix=[None, "the", "two"]) == [
        *translator.translate([line, ""]),
        *translator.translate(["a dog"], target_prefix="two"),
    ]
    assert plain_second == translator.translate(sentences[1:], target_prefix="")[0]


def test_a_prefix_of_a_part_of_a_word(translator: Translator) -> None:
    [found] = translator.translate(["the man"], target_prefix="the wo")
    assert found.startswith("the wo")


def test_streams_take_one_prefix_for_all(translator: Translator) -> None:
    lines = ["the man", "two dogs", "a book"]
    expected = translator.translate(lines, target_prefix="the red")
    assert list(translator.translate_stream(lines, target_prefix="the red")) == expected
    assert list(translator.translate_chunks([lines[:2], lines[2:]], target_prefix="the red")) == [
        expected[:2],
        expected[2:],
    ]


def test_unknown_pieces_of_the_source_keep_their_text(vocabulary: Vocabulary) -> None:
    line = "the 犬 dog 山川 x"
    ids = vocabulary.encode(line)
    halves = [ids[:3], ids[3:]]
    assert "".join(piece for half in source_pieces(vocabulary, line, halves) for piece in half) == "▁the▁犬▁dog▁山川▁x"


def test_a_generated_unknown_piece_is_replaced_by_the_word_with_the_most_attention(
    translator: Translator,
) -> None:
    """Random networks hardly generate it, so all else is suppressed."""
    everything = [[piece] for piece in translator.tokenizer.pieces(range(4, 120))]
    [found] = translator.translate(
        ["the 犬 dog"], replace_unknowns=True, suppressed_sequences=everything, min_length=4, max_length=4
    )
    assert set(found) <= set("the犬dog")
    assert found
    plain = translator.translate_detailed(["the 犬 dog"], suppressed_sequences=everything, min_length=4, max_length=4)
    assert plain[0][0].text == ""
    [line] = translator.translate_detailed(
        ["the 犬 dog"], replace_unknowns=True, suppressed_sequences=everything, min_length=4, max_length=4
    )
    assert line[0].alignment is not None
    for source, target in line[0].alignment.piece_links():
        assert line[0].pieces[target] in ("the", "犬", "dog")
        word = sum(start <= source for start in line[0].alignment.source_word_starts) - 1
        assert line[0].pieces[target] == line[0].alignment.source_words[word]


def test_options_that_change_nothing(translator: Translator) -> None:
    expected = translator.translate(LINES)
    for options in (
        {"repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "suppressed_texts": [], "suppressed_sequences": []},
        {"target_prefix": None, "batch_size": None},
        {"target_prefix": [None] * 3},
        {"batch_size": 1},
        {"parallel": False},
    ):
        assert translator.translate(LINES, **options) == expected


def test_a_part_within_a_word_begins_one_if_nothing_is_before_it() -> None:
    dog, sign = make_alignment(["▁dog"], ["▁Hund"], ((1.0,),)), copied_alignment("😀")
    joined = join_alignments([dog, sign], [True, False])
    assert (joined.source_words, joined.target_words) == (("dog😀",), ("Hund😀",))
    assert joined.word_links() == [(0, 0)]
    empty = make_alignment(["▁dog"], [], ())
    joined = join_alignments([empty, sign], [True, False])
    assert (joined.source_words, joined.target_words) == (("dog😀",), ("😀",))
    assert joined.word_links() == [(0, 0)]
