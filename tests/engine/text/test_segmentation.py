"""Long lines are divided, and nothing is dropped."""

import unicodedata
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
CHARACTERS = (*"今日a1３.．!！?？。｡」）\"' \u3000।…\u0301\u3099\u00b4ﾞ>\u0338", "U.S.", "พ.ศ.", "\x1f")


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


def vocabulary_of_characters(line: str, normalization: Literal["nfkc", "none"] = "nfkc") -> Vocabulary:
    lines = (line, unicodedata.normalize("NFKC", line))
    model = sentencepiece_model(lines, 200, "char", pad_id=0, bos_id=1, eos_id=2, unk_id=3)
    return Vocabulary(StoredVocabulary(model, normalization=normalization))


@pytest.mark.parametrize("normalization", ["nfkc", "none"])
@pytest.mark.parametrize(
    "text",
    [
        "「やった！」|「すごい！」|「本当に来たの？」|「うん！」|（やった！）|《本当？》|“はい。”",
        "すごい！|2024年は雨だった！|3人が来た！|OKだ！|やった．|OK",
        "「やった!」|「すごい!」|「本当に来たの?」|「うん!」",
        "値は３．１４と２．７１だった．|値は１．２３だった．",
        "我们在U.S.中国.|今天很好.|我们去公园!|他在U.S.日本.|好.",
        "यह अच्छा है। |वह बुरा है॥ |ठीक",
        "هل أنت هنا؟ |أنا هنا۔ |نعم أنا",
        "ሰላም ነው። |ደህና ነው፧ |አዎ ነው",
        "Բարեւ ձեզ։ |Լավ եմ։ |Այո եմ",
    ],
)
def test_ends_of_sentences_in_many_scripts(text: str, normalization: Literal["nfkc", "none"]) -> None:
    sentences = text.split("|")
    line = "".join(sentences)
    vocabulary = vocabulary_of_characters(line, normalization)
    ends = {vocabulary.decode(vocabulary.encode("".join(sentences[:count]))) for count in range(len(sentences) + 1)}
    longest = max(len(vocabulary.encode(sentence)) for sentence in sentences)
    for limit in range(longest, len(vocabulary.encode(line))):
        texts = [vocabulary.decode(ids) for ids in encode_line(vocabulary, line, limit)]
        found = {"".join(texts[:count]).replace(" ", "") for count in range(len(texts))}
        assert found <= {end.replace(" ", "") for end in ends}, limit


@pytest.mark.parametrize("line", ["พ.ศ.๒๕๖๐", "ม.ค.นี้", "３．１４", "U.S.中国", "Ｕ．Ｓ．中国"])
def test_full_stops_inside_a_word_end_no_sentence(line: str) -> None:
    """A word that is too long is cut at the limit, wherever its full stops are."""
    vocabulary = vocabulary_of_characters(line)
    ids = vocabulary.encode(line)
    limit = len(ids) - 1
    assert encode_line(vocabulary, line, limit) == [ids[:limit], ids[limit:]]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(CHARACTERS), min_size=1), st.integers(1, 12), st.sampled_from(["nfkc", "none"]))
def test_nothing_is_dropped_without_spaces(
    characters: list[str], limit: int, normalization: Literal["nfkc", "none"]
) -> None:
    """Sentences are normalized one by one; that gives the text of the whole line."""
    vocabulary = vocabulary_of_characters("".join(CHARACTERS), normalization)
    line = "".join(characters)
    segments = encode_line(vocabulary, line, limit)
    assert all(1 <= len(ids) <= limit for ids in segments)
    pieces = [piece for ids in segments for piece in vocabulary.pieces(ids)]
    assert "".join(pieces).replace("▁", "") == "".join(vocabulary.pieces(vocabulary.encode(line))).replace("▁", "")


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
