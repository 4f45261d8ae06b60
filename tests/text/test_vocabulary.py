import functools
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import DataError
from pocketmt.text.normalization import normalize
from pocketmt.text.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary
from tests.parallel_text import parallel_text

SIZE = 400


@functools.cache
def corpus() -> tuple[str, ...]:
    english, german = parallel_text()
    return (*english, *german)


@functools.cache
def vocabulary() -> Vocabulary:
    return train_vocabulary(corpus(), SIZE)


sentences = st.integers(0, 399).map(lambda index: corpus()[index])


def test_size_and_special_ids() -> None:
    assert len(vocabulary()) == SIZE
    assert vocabulary().pieces([PAD, BOS, EOS, UNK]) == ["<pad>", "<s>", "</s>", "<unk>"]


@given(sentences)
def test_text_of_the_corpus_round_trips(line: str) -> None:
    ids = vocabulary().encode(line)
    assert vocabulary().decode(ids) == line
    assert min(ids) > UNK and max(ids) < SIZE


@given(st.text(st.sampled_from(sorted(set("".join(corpus())))), max_size=30))
def test_any_text_of_known_characters_round_trips(line: str) -> None:
    assert vocabulary().decode(vocabulary().encode(line)) == normalize(line)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text_has_ids_and_no_special_but_unknown(line: str) -> None:
    ids = vocabulary().encode(line)
    assert not {PAD, BOS, EOS} & set(ids)
    assert all(0 <= id < SIZE for id in ids)
    assert bool(ids) == bool(normalize(line))


@given(st.lists(st.integers(0, SIZE - 1), max_size=20))
def test_special_ids_give_no_text(ids: list[int]) -> None:
    plain = [id for id in ids if id > UNK]
    assert vocabulary().decode([BOS, *ids, EOS, PAD]) == vocabulary().decode(plain)


def test_text_is_normalized_before_it_is_encoded() -> None:
    assert vocabulary().encode(" Das\u00a0 Haus\t") == vocabulary().encode("Das Haus")


def test_names_of_special_pieces_in_text_are_text() -> None:
    assert not {BOS, EOS, PAD} & set(vocabulary().encode("<s> </s> <pad>"))


def test_training_is_deterministic() -> None:
    assert train_vocabulary(corpus(), SIZE).model == vocabulary().model


def test_a_unigram_vocabulary_is_another_one_and_deterministic() -> None:
    unigram = train_vocabulary(corpus(), SIZE, "unigram")
    assert unigram.model == train_vocabulary(corpus(), SIZE, "unigram").model
    assert unigram.pieces([PAD, BOS, EOS, UNK]) == vocabulary().pieces([PAD, BOS, EOS, UNK])
    assert unigram.encode(corpus()[0]) != vocabulary().encode(corpus()[0])
    assert unigram.decode(unigram.encode(corpus()[0])) == corpus()[0]


def test_bytes_and_file_give_the_same_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.model").write_bytes(vocabulary().model)
    line = corpus()[0]
    assert Vocabulary.from_file(tmp_path / "vocabulary.model").encode(line) == vocabulary().encode(line)
    assert Vocabulary(vocabulary().model).encode(line) == vocabulary().encode(line)


@pytest.mark.parametrize("data", [b"", b"not a model", bytes(1000)])
def test_an_invalid_model_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match=r"^not a SentencePiece model: give a model that SentencePiece has trained$"):
        Vocabulary(data)


def test_a_truncated_model_is_refused() -> None:
    model = vocabulary().model
    with pytest.raises(DataError):
        Vocabulary(model[: len(model) // 2])


def test_other_special_ids_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n".join(corpus()), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "other"), vocab_size=200, minloglevel=2
    )
    with pytest.raises(DataError, match="pad, bos, eos, unk"):
        Vocabulary.from_file(tmp_path / "other.model")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.model"):
        Vocabulary.from_file(tmp_path / "none.model")


def test_a_vocabulary_larger_than_the_text_allows_says_how_large_it_may_be() -> None:
    lines = ["a small text", "ein kleiner Text"]
    with pytest.raises(DataError, match=r"ask for at most (\d+)") as raised:
        train_vocabulary(lines, 5000)
    largest = int(str(raised.value).rsplit(maxsplit=1)[-1])
    assert len(train_vocabulary(lines, largest)) == largest


def test_a_vocabulary_too_small_for_the_characters_is_refused() -> None:
    with pytest.raises(DataError, match=r"too small for this text's characters: ask for at least \d+$"):
        train_vocabulary(corpus(), 10)


@pytest.mark.parametrize("lines", [[], ["", " \t "]])
def test_no_text_is_refused(lines: list[str]) -> None:
    with pytest.raises(DataError, match="no text"):
        train_vocabulary(lines, 100)
