"""Random models of our own, with the vocabularies of toy text."""

from typing import Any

import numpy as np

from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import of_array
from pocketmt.model_file import TransformerArchitecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from tests.interop.toy_text import SOURCE_LINES, TARGET_LINES, pieces_of, sentencepiece_model


def marian_vocabularies(separate: bool = False) -> StoredVocabularies:
    if separate:
        sides = (sentencepiece_model(SOURCE_LINES, 60), sentencepiece_model(TARGET_LINES, 50))
        return StoredVocabularies(*(StoredVocabulary(side, normalization="none") for side in sides))
    model = sentencepiece_model(SOURCE_LINES + TARGET_LINES, 80)
    return StoredVocabularies(StoredVocabulary(model, normalization="none"))


def marian_architecture(vocabularies: StoredVocabularies, **changes: Any) -> TransformerArchitecture:
    """Return a network as Marian has them."""
    sizes = [len(pieces_of(side.model)) for side in vocabularies.sides]
    fields: dict[str, Any] = {
        "model_dimension": 16,
        "vocabulary_size": sizes[-1],
        "source_vocabulary_size": sizes[0] if len(sizes) == 2 else 0,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "embeddings": "separate" if len(sizes) == 2 else "shared",
        "output_bias": True,
        "first_decoder_input": "zero",
        "pad_id": None,
        "bos_id": None,
        "eos_id": 0,
        "unk_id": 1,
        "vocabularies": "separate" if len(sizes) == 2 else "shared",
        "normalization_epsilon": 1e-6,
        "feed_forward_dimension": 24,
        "attention_heads": 2,
        "attention_dimension": 16,
        "norm": "post",
        "attention_bias": True,
        "positions": "concatenated_inclusive",
    }
    return TransformerArchitecture(**fields | changes)


def random_model(
    architecture: TransformerArchitecture, vocabularies: StoredVocabularies, seed: int = 1
) -> ForeignModel:
    random = np.random.default_rng(seed)
    tensors = {
        name: of_array(random.standard_normal(shape, dtype=np.float32) * np.float32(0.4))
        for name, shape in architecture.parameter_shapes().items()
    }
    metadata = ModelMetadata(source_language="en", target_language="de")
    return ForeignModel(architecture=architecture, tensors=tensors, vocabularies=vocabularies, metadata=metadata)


def same(left: ForeignModel, right: ForeignModel) -> bool:
    """Return whether two models have the same network, vocabularies, and bits of weights."""
    return (
        left.architecture == right.architecture
        and left.vocabularies == right.vocabularies
        and left.tensors.keys() == right.tensors.keys()
        and all(left.tensors[name].read().tobytes() == right.tensors[name].read().tobytes() for name in left.tensors)
    )
