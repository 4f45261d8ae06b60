"""Text and SentencePiece models that are small enough to be trained in each test."""

import io
import itertools
from typing import Any

import sentencepiece

SOURCE_LINES = [
    f"{first} {second} {third}"
    for first, second, third in itertools.product(
        ("the man", "a woman", "two dogs"), ("rides", "sees", "wants"), ("a bike", "the red house", "some bread.")
    )
]
TARGET_LINES = [
    f"{first} {second} {third}"
    for first, second, third in itertools.product(
        ("der Mann", "eine Frau", "zwei Hunde"), ("fährt", "sieht", "will"), ("ein Rad", "das rote Haus", "Brot.")
    )
]


def sentencepiece_model(lines: list[str], size: int, **options: Any) -> bytes:
    """Train a model of the ids that Marian's have: </s> 0, <unk> 1, neither <s> nor <pad>."""
    buffer = io.BytesIO()
    settings: dict[str, Any] = {
        "bos_id": -1,
        "pad_id": -1,
        "eos_id": 0,
        "unk_id": 1,
        "model_type": "unigram",
        **options,
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=buffer,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **settings,
    )
    return buffer.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    return [processor.IdToPiece(id) for id in range(processor.GetPieceSize())]
