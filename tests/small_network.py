"""A small network and a vocabulary for tests of model files."""

import random

import pytest
import torch

from pocketmt.model_file import TransformerArchitecture
from pocketmt.models.transformer import Transformer
from pocketmt.text.vocabulary_training import train_vocabulary

PIECES = 60


@pytest.fixture(scope="session")
def vocabulary() -> bytes:
    draw = random.Random(1)
    words = [
        "the",
        "a",
        "man",
        "woman",
        "dog",
        "rides",
        "reads",
        "sees",
        "red",
        "big",
        "old",
        "bike",
        "book",
        "house",
        "in",
        "on",
        "with",
        "and",
        "two",
        "three",
    ]
    return train_vocabulary([" ".join(draw.choices(words, k=8)) for _ in range(300)], PIECES).model


def architecture(norm: str = "post", attention_bias: bool = False) -> TransformerArchitecture:
    """Return an architecture whose dimensions all differ; one of them is odd."""
    return TransformerArchitecture(
        encoder_layers=2,
        decoder_layers=1,
        model_dimension=14,
        feed_forward_dimension=21,
        attention_heads=2,
        attention_dimension=24,
        norm=norm,
        attention_bias=attention_bias,
        vocabulary_size=PIECES,
    )


def random_transformer(shape: TransformerArchitecture, seed: int = 0) -> Transformer:
    """Return a network of random weights, biases and norms."""
    torch.manual_seed(seed)
    model = Transformer(shape).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn_like(parameter))
    return model
