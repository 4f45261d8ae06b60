"""Text and SentencePiece models that are small enough to be trained in each test."""

import itertools
from typing import Any

import sentencepiece

from tests import foreign_vocabularies

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
    kind = options.pop("model_type", "unigram")
    return foreign_vocabularies.sentencepiece_model(tuple(lines), size, kind, **options)


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    return [processor.IdToPiece(id) for id in range(processor.GetPieceSize())]
