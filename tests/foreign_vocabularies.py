"""Vocabularies as models of other programs have them: two SentencePiece models, and ids by a table."""

import functools
import io
from collections.abc import Iterable
from typing import Any

import sentencepiece

from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary
from tests.parallel_text import parallel_text

SIZE = 300


@functools.cache
def sentencepiece_model(lines: tuple[str, ...], size: int = SIZE, kind: str = "unigram", **options: Any) -> bytes:
    """A SentencePiece model with its own normalization, and special ids as Marian has them: `</s>` 0, `<unk>` 1."""
    buffer = io.BytesIO()
    given: dict[str, Any] = {"bos_id": -1, "pad_id": -1, "eos_id": 0, "unk_id": 1, **options}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=buffer,
        vocab_size=size,
        model_type=kind,
        character_coverage=1.0,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **given,
    )
    return buffer.getvalue()


def pieces_of(model: bytes) -> list[str]:
    """The pieces of a SentencePiece model, in its order, without control pieces and the unknown one."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids = range(processor.GetPieceSize())
    return [processor.IdToPiece(id) for id in ids if not processor.IsControl(id) and not processor.IsUnknown(id)]


def joint_table(*models: bytes, codes: Iterable[str] = (), without: Iterable[str] = ()) -> tuple[str, ...]:
    """A table as OPUS-MT's: all pieces of all models in one list, special pieces anywhere, `<pad>` last."""
    pieces = sorted({piece for model in models for piece in pieces_of(model)} - set(without))
    return (*pieces[:7], "</s>", *pieces[7:20], "<unk>", *pieces[20:], *codes, "<pad>")


def ids_in(table: tuple[str, ...]) -> SpecialIds:
    """The special ids of a table."""
    return SpecialIds(table.index("<pad>"), None, table.index("</s>"), table.index("<unk>"))


@functools.cache
def joint(codes: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> StoredVocabularies:
    """Vocabularies of both languages that share one table, as OPUS-MT has them."""
    models = [sentencepiece_model(lines) for lines in parallel_text()]
    table = joint_table(*models, codes=codes, without=without)
    special = ("</s>", "<unk>", "<pad>")
    return StoredVocabularies(*(StoredVocabulary(model, table, "none", special, True) for model in models))


@functools.cache
def separate() -> StoredVocabularies:
    """Vocabularies of both languages of different sizes, without a table, as Firefox has them."""
    english, german = parallel_text()
    return StoredVocabularies(
        StoredVocabulary(sentencepiece_model(english, 450, byte_fallback=True), normalization="none"),
        StoredVocabulary(sentencepiece_model(german, 500, byte_fallback=True), normalization="none"),
    )
