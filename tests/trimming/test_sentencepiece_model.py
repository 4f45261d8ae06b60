import pytest
import sentencepiece

from pocketmt.errors import DataError
from pocketmt.trimming.sentencepiece_model import UNUSED, SentencePieceModel, parse_model
from tests.foreign_vocabularies import sentencepiece_model
from tests.parallel_text import parallel_text

ENGLISH, GERMAN = parallel_text()
KINDS = ("unigram", "bpe")


def processor(model: bytes) -> "sentencepiece.SentencePieceProcessor":
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def divide(model: bytes, line: str) -> list[str]:
    pieces: list[str] = processor(model).EncodeAsPieces(line)
    return pieces


def unused(model: SentencePieceModel) -> set[str]:
    return {piece.text for piece in model.pieces if piece.type == UNUSED}


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_of_a_model_stay_as_they_are(kind: str) -> None:
    model = sentencepiece_model(ENGLISH + GERMAN, 600, kind)
    parsed = parse_model(model)
    assert len(parsed.serialized()) == len(model)
    assert [piece.text for piece in parsed.pieces] == [
        processor(model).IdToPiece(id) for id in range(processor(model).GetPieceSize())
    ]
    assert parsed.merges == (kind == "bpe")


@pytest.mark.parametrize("kind", KINDS)
def test_text_without_a_piece_that_is_cut_is_divided_as_before(kind: str) -> None:
    model = sentencepiece_model(ENGLISH + GERMAN, 600, kind)
    used = {piece for line in ENGLISH for piece in divide(model, line)}
    smaller = parse_model(model).restricted(used).serialized()
    assert len(smaller) < len(model)
    assert [divide(smaller, line) for line in ENGLISH] == [divide(model, line) for line in ENGLISH]


@pytest.mark.parametrize("kind", KINDS)
def test_other_text_is_divided_into_kept_pieces(kind: str) -> None:
    model = sentencepiece_model(ENGLISH + GERMAN, 600, kind)
    used = {piece for line in ENGLISH for piece in divide(model, line)}
    used |= {character for line in GERMAN for piece in divide(model, line) for character in piece}
    smaller = parse_model(model).restricted(used)
    lines = [divide(smaller.serialized(), line) for line in GERMAN]
    assert {piece for pieces in lines for piece in pieces} <= used
    assert not unused(smaller) & used
    assert [processor(model).DecodePieces(pieces) for pieces in lines] == list(GERMAN)
    assert lines != [divide(model, line) for line in GERMAN]


def test_pieces_that_others_are_merged_from_are_kept_asunused() -> None:
    model = sentencepiece_model(("abcd abcd abcd abce",) * 20, 30, "bpe")
    smaller = parse_model(model).restricted({"▁abcd", "a", "b", "c", "d", "▁"})
    assert divide(smaller.serialized(), "abcd") == ["▁abcd"]
    assert unused(smaller)
    assert set(divide(smaller.serialized(), "abc")) <= {"a", "b", "c", "▁"}


@pytest.mark.parametrize("model", [b"\x0a\xff", b"\x0a\x05ab", b"\x0f", b"\xff" * 20])
def test_bytes_that_are_no_model_are_refused(model: bytes) -> None:
    with pytest.raises(DataError, match="not a SentencePiece model"):
        parse_model(model)
