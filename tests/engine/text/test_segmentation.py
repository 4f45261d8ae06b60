"""Long lines are divided, and nothing is dropped."""

from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocketmt.engine.segmentation import encode_line
from pocketmt.text.stored_vocabulary import StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary
from tests.foreign_vocabularies import sentencepiece_model

SENTENCE = "the man reads a book."
WORDS = ("man", "a.", "b!)", "。", "book", "。。", "red。", "?", ".", "woman")


def test_a_short_line_is_one_segment(vocabulary: Vocabulary) -> None:
    assert encode_line(vocabulary, SENTENCE, 200) == [vocabulary.encode(SENTENCE)]
    assert encode_line(vocabulary, "  ", 200) == []


def test_segments_end_where_sentences_end(vocabulary: Vocabulary) -> None:
    length = len(vocabulary.encode(SENTENCE))
    segments = encode_line(vocabulary, " ".join([SENTENCE] * 10), 3 * length + 1)
    assert [vocabulary.decode(ids) for ids in segments] == [
        *[" ".join([SENTENCE] * 3)] * 3,
        SENTENCE,
    ]


@pytest.mark.parametrize("normalization", ["nfkc", "none"])
@pytest.mark.parametrize(
    "ends", [("。",), ("。", "！", "？", "．"), ("｡", "？！", "。」", "！）"), ("… ", "。 ", "？")]
)
def test_lines_without_spaces_are_cut_between_sentences(
    ends: Sequence[str], normalization: Literal["nfkc", "none"]
) -> None:
    """A sentence can have more pieces behind another one than alone, with the space before it."""
    bodies = ("我们今天很好", "天气很好我们去公园", "我去公园")
    ids = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3}
    model = sentencepiece_model((*bodies * 9, *(f"我 {end}" for end in ends)), 60, **ids)
    vocabulary = Vocabulary(StoredVocabulary(model, normalization=normalization))
    sentences = [bodies[index % 3] + ends[index % len(ends)] for index in range(41)]
    whole = vocabulary.encode("".join(sentences))
    longest = max(len(vocabulary.encode("".join(sentences[start : start + 3]))) for start in range(39))
    texts = [vocabulary.decode(ids) for ids in encode_line(vocabulary, "".join(sentences), longest)]
    assert len(texts) <= 14, "at least three sentences each but the last"
    assert "".join(texts).replace(" ", "") == vocabulary.decode(whole).replace(" ", "")
    for text in texts:
        assert text.startswith(("我", "天气")), texts
        assert text.endswith((*"。.!?」)", "...")), texts


def test_a_long_sentence_is_cut_between_words(vocabulary: Vocabulary) -> None:
    segments = encode_line(vocabulary, "man " * 100, 7)
    assert {word for ids in segments for word in vocabulary.decode(ids).split()} == {"man"}
    assert sum(len(vocabulary.decode(ids).split()) for ids in segments) == 100


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1), st.integers(1, 30))
def test_nothing_is_dropped(vocabulary: Vocabulary, words: list[str], limit: int) -> None:
    line = " ".join(words)
    segments = encode_line(vocabulary, line, limit)
    assert all(1 <= len(ids) <= limit for ids in segments)
    pieces = [piece for ids in segments for piece in vocabulary.pieces(ids)]
    assert "".join(pieces).replace("▁", "") == "".join(vocabulary.pieces(vocabulary.encode(line))).replace("▁", "")
