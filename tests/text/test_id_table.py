from typing import Any

import pytest

from pocketmt.errors import DataError
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import Vocabularies, Vocabulary, load_vocabularies
from tests.foreign_vocabularies import ids_in, joint, joint_table, pieces_of, sentencepiece_model, separate
from tests.parallel_text import parallel_text


def load(stored: StoredVocabularies) -> Vocabularies:
    table = stored.source.pieces
    assert table is not None
    return load_vocabularies(stored, ids_in(table), ids_in(table))


def with_table(*pieces: str, model: bytes | None = None, **members: Any) -> Vocabulary:
    """A vocabulary of the English model with a table of these pieces."""
    special = SpecialIds(None, None, pieces.index("</s>"), pieces.index("<unk>"))
    stored = StoredVocabulary(model or sentencepiece_model(parallel_text()[0]), pieces, "none", **members)
    return Vocabulary(stored, special)


def test_each_side_has_its_own_model_and_both_one_table() -> None:
    found = load(joint())
    for side, lines in zip((found.source, found.target), parallel_text(), strict=True):
        for line in lines[:50]:
            ids = side.encode(line)
            assert side.decode(ids) == line
            assert not side.special & set(ids)
            assert side.pieces(ids) == side.encode_as_pieces(line)
    assert len(found.source) == len(found.target) == len(joint_table(*(side.model for side in joint().sides)))
    assert found.source.encode("the station") != found.target.encode("the station")
    assert not found.shared


def test_a_piece_that_the_table_lacks_is_unknown() -> None:
    model = sentencepiece_model(parallel_text()[0])
    pieces = Vocabulary(StoredVocabulary(model, normalization="none"), SpecialIds(None, None, 0, 1)).encode_as_pieces(
        parallel_text()[0][0]
    )
    found = load(joint(without=(pieces[2],))).source
    ids = found.encode(parallel_text()[0][0])
    assert [index for index, id in enumerate(ids) if id == found.ids.unk] == [
        index for index, piece in enumerate(pieces) if piece == pieces[2]
    ]
    assert found.encode_as_pieces(parallel_text()[0][0]) == pieces, "the text of an unknown piece is kept"


def test_text_that_the_model_lacks_but_the_table_has_is_known() -> None:
    found = with_table("</s>", "<unk>", "▁", "☃", "a")
    assert found.encode("☃") == [2, 3]


def test_special_pieces_in_text_are_found_only_if_the_table_says_so() -> None:
    pieces = ("a", "</s>", "▁", "b", "<unk>", "▁a", "▁b")
    assert with_table(*pieces, verbatim=("</s>", "<unk>")).encode("a</s>b <unk>") == [5, 1, 6, 4]
    assert 1 not in with_table(*pieces).encode("a</s>b <unk>")


def test_of_several_pieces_in_text_the_longest_is_found() -> None:
    pieces = ("</s>", "<unk>", "__a", "__ab", "▁b")
    assert with_table(*pieces, verbatim=("__a", "__ab")).encode("__ab__ab__ab__a") == [3, 3, 3, 2]


def test_a_language_code_at_the_beginning_is_one_piece() -> None:
    pieces = ("</s>", "<unk>", ">>deu<<", "▁a", ">>", "<<")
    found = with_table(*pieces, language_codes=True)
    assert found.encode(">>deu<< a") == [2, 3]
    assert found.encode(">>deu<<a") == [2, 3]
    assert found.encode(">>fra<< a") == [1, 3], "a code that the table lacks is unknown, and one piece"
    assert 2 not in found.encode("a >>deu<<")
    assert 2 not in with_table(*pieces).encode(">>deu<< a")
    assert len(found.encode(">> a")) > 1, "without an end it is text"


def test_decoded_text_has_no_special_and_no_verbatim_pieces() -> None:
    pieces = ("▁a", "</s>", "__de__", "<unk>", "b", "▁c")
    assert with_table(*pieces, verbatim=("__de__",)).decode([2, 0, 4, 3, 5, 1]) == "ab c"


def test_bytes_are_joined_to_characters() -> None:
    model = sentencepiece_model(parallel_text()[0], 450, byte_fallback=True)
    found = with_table("</s>", "<unk>", *pieces_of(model), model=model)
    assert found.decode(found.encode("a ☃ 雪")) == "a ☃ 雪"
    cut = found.encode("☃")[:-1]
    assert found.decode(cut) == "\ufffd"
    assert b"".join(found.surfaces()[id] for id in found.encode("☃")).decode() == "▁☃"


def test_two_models_without_a_table() -> None:
    found = load_vocabularies(separate(), SpecialIds(None, None, 0, 1), SpecialIds(None, None, 0, 1))
    assert len(found.source) < len(found.target)
    assert found.target.decode(found.target.encode("Häuser")) == "Häuser"
    assert found.source.surfaces()[:2] == [b"", b""]


def test_the_models_own_rules_alone_normalize() -> None:
    """NFKC makes one character of two here, but the model's rules (nmt_nfkc) also remove zero-width spaces."""
    own = with_table("</s>", "<unk>", *pieces_of(sentencepiece_model(parallel_text()[0])))
    assert own.encode("a\u200bb") == own.encode("a b")


@pytest.mark.parametrize(
    ("pieces", "members", "reason"),
    [
        (("</s>", "<unk>", "a", "a"), {}, "'a' twice"),
        (("</s>", "<unk>", "a"), {"verbatim": ("b",)}, "lacks 'b'"),
    ],
)
def test_tables_that_cannot_be(pieces: tuple[str, ...], members: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        with_table(*pieces, **members)


def test_special_ids_out_of_range_are_refused() -> None:
    stored = StoredVocabulary(sentencepiece_model(parallel_text()[0]), ("</s>", "<unk>"), "none")
    with pytest.raises(DataError, match="the id of pad is 2, but the id table has 2 pieces"):
        Vocabulary(stored, SpecialIds(2, None, 0, 1))


def test_ids_without_a_piece_may_be_several() -> None:
    assert len(with_table("</s>", "", "<unk>", "")) == 4


def test_pieces_in_raw_text_need_a_table() -> None:
    with pytest.raises(DataError, match="only with an id table"):
        StoredVocabulary(b"", verbatim=("</s>",))


def test_a_side_that_is_wrong_is_named() -> None:
    stored = StoredVocabularies(joint().source, StoredVocabulary(b"none"))
    with pytest.raises(DataError, match="target vocabulary: not a SentencePiece model"):
        load(stored)
