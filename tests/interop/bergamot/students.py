"""Random students in bergamot's shape, whose outputs vary."""

import io
import random
from typing import Any

import numpy as np
import sentencepiece

from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import of_array
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary

PIECES = 200
LINES = [
    "Hello world, this is a test of the format.",
    "The cat sat.",
    "Give me 12 numbers!",
    "A man rides a bike.",
    "Two dogs play with a red ball in the snow.",
    "Nobody knows what this sentence is about, but it has many words.",
]
SYLLABLES = ("ba", "ne", "tio", "ruk", "sil", "mo", "ver", "gat", "ing", "de", "lo", "sha", "pur", "ek", "wim")


def vocabulary(pieces: int = PIECES, **options: Any) -> bytes:
    """A SentencePiece model with eos 0, unk 1 and no others, as bergamot's are."""
    buffer = io.BytesIO()
    chosen: dict[str, Any] = {"eos_id": 0, "unk_id": 1, "bos_id": -1, "pad_id": -1} | options
    draw = random.Random(5)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(600)]
    text = LINES + [" ".join(draw.choices(words, k=8)) for _ in range(400)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text),
        model_writer=buffer,
        vocab_size=pieces,
        model_type="unigram",
        character_coverage=1.0,
        **chosen,
        num_threads=1,
        minloglevel=2,
    )
    return buffer.getvalue()


def architecture(**changes: object) -> TransformerArchitecture:
    """A small student of 3 + 2 layers."""
    fields: dict[str, object] = {
        "model_dimension": 64,
        "attention_dimension": 64,
        "attention_heads": 8,
        "feed_forward_dimension": 128,
        "encoder_layers": 3,
        "decoder_layers": 2,
        "vocabulary_size": PIECES,
        "norm": "post",
        "attention_bias": True,
        "decoder_autoregression": "ssru",
        "positions": "concatenated_inclusive",
        "first_decoder_input": "zero",
        "output_bias": True,
        "pad_id": None,
        "bos_id": None,
        "eos_id": 0,
        "unk_id": 1,
        "normalization_epsilon": 1e-6,
    }
    return TransformerArchitecture(**{**fields, **changes})  # type: ignore[arg-type]


def random_student(seed: int = 3, **changes: object) -> ForeignModel:
    """A student with random weights."""
    described = architecture(**changes)
    draw = np.random.default_rng(seed)
    tensors = {}
    for name, shape in described.parameter_shapes().items():
        values = draw.standard_normal(shape).astype(np.float32)
        if name.endswith("norm.weight"):
            values = 1 + np.float32(0.1) * values
        elif len(shape) == 1:
            values *= np.float32(0.1)
        else:
            values /= np.sqrt(np.float32(shape[1]))
        if name.endswith("input_forget.weight"):
            values[: shape[0] // 2] *= 6  # so that the next piece depends on those before it
        if name == "output.bias":
            values[described.unk_id] = -10  # fxtranslate generates it, Marian and PocketMT do not
        tensors[name] = of_array(values)
    return ForeignModel(
        architecture=described,
        tensors=tensors,
        vocabularies=StoredVocabularies(StoredVocabulary(vocabulary(described.vocabulary_size), normalization="none")),
        metadata=ModelMetadata(source_language="en", target_language="de"),
    )
