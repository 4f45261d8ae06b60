"""Ids equal those of the tokenizers of M2M100 and NLLB: SentencePiece's plus one, and a piece for each language."""

import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import transformers
from transformers.convert_slow_tokenizer import generate_merges

from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabulary
from pocketmt.text.vocabulary import Vocabulary
from tests.foreign_vocabularies import sentencepiece_model
from tests.parallel_text import parallel_text

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
IDS = SpecialIds(pad=1, bos=0, eos=2, unk=3)
LINES = [
    *(line for side in parallel_text() for line in side[:40]),
    "",
    "  two  spaces",
    "☃ unknown 雪雪",
    "before __de__ after</s><unk>",
    "\u200bzero\u00a0width",
]


@pytest.fixture(scope="module")
def model() -> bytes:
    """A SentencePiece model with fairseq's first three pieces."""
    return sentencepiece_model(parallel_text()[0] + parallel_text()[1], 500, "bpe", bos_id=1, eos_id=2, unk_id=0)


def table_of(model: bytes, languages: list[str]) -> tuple[str, ...]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return (*SPECIAL, *(processor.IdToPiece(id) for id in range(3, processor.GetPieceSize())), *languages)


def test_m2m100(model: bytes, tmp_path: Path) -> None:
    plain = table_of(model, [])
    (tmp_path / "vocab.json").write_text(json.dumps({piece: id for id, piece in enumerate(plain)}))
    (tmp_path / "sentencepiece.bpe.model").write_bytes(model)
    original: Any = transformers.M2M100Tokenizer(
        str(tmp_path / "vocab.json"), str(tmp_path / "sentencepiece.bpe.model"), src_lang="en", tgt_lang="de"
    )
    languages = [piece for piece, _ in sorted(original.lang_token_to_id.items(), key=lambda item: item[1])]
    own = Vocabulary(StoredVocabulary(model, (*plain, *languages), "none", SPECIAL), IDS)
    for line in LINES:
        ids = own.encode(line)
        assert [own.id("__en__"), *ids, 2] == original(line).input_ids
        assert own.decode(ids) == original.decode(ids, skip_special_tokens=True)


def test_nllb(model: bytes) -> None:
    """The original divides text by the merges that transformers makes from a SentencePiece model."""
    plain = table_of(model, [])
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    scores = {processor.IdToPiece(id): processor.GetScore(id) for id in range(3, processor.GetPieceSize())}
    ids_of = {piece: id for id, piece in enumerate(plain)}
    original: Any = transformers.NllbTokenizer(vocab=ids_of, merges=generate_merges(ids_of, scores))
    pieces = original.get_vocab()
    table = tuple(sorted(pieces, key=pieces.__getitem__))
    assert table[: len(plain)] == plain
    own = Vocabulary(StoredVocabulary(model, table, "none", (*SPECIAL, *table[len(plain) :])), IDS)
    for line in LINES[:80]:
        assert [own.id("eng_Latn"), *own.encode(line), 2] == original(line).input_ids
