"""A small vocabulary, and random model files made of it."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.model_file import Architecture, open_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.text.vocabulary import Vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary
from tests.engine.reference import Grouping, architecture, plain, random_network, uniform, write

WORDS = (
    *("the", "a", "man", "woman", "dog", "rides", "reads", "sees", "red", "big", "old", "bike", "book", "house"),
    *("in", "on", "with", "and", "two", "three"),
)

Loader = Callable[..., tuple[_native.Model, TranslationNetwork]]


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """A vocabulary of 120 pieces."""
    draw = random.Random(1)
    return train_vocabulary([" ".join(draw.choices(WORDS, k=8)) + "." for _ in range(500)], 120)


@pytest.fixture
def model_path(tmp_path: Path, vocabulary: Vocabulary) -> Path:
    """A random model in 8 bit."""
    path = tmp_path / "random.pocketmt"
    write(path, random_network(architecture()), vocabulary, uniform)
    return path


@pytest.fixture(scope="session")
def shared_model(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> Path:
    """The same, made once; tests must not change it."""
    path = tmp_path_factory.mktemp("model") / "random.pocketmt"
    write(path, random_network(architecture()), vocabulary, uniform)
    return path


@pytest.fixture
def load(tmp_path: Path, vocabulary: Vocabulary) -> Loader:
    """Make a random network, write it and load it: the native model, and its PyTorch reference."""

    def make(
        shape: Architecture | None = None,
        grouping: Grouping = plain,
        *,
        seed: int = 0,
        workers: int = 1,
        instruction_set: str | None = None,
    ) -> tuple[_native.Model, TranslationNetwork]:
        path = tmp_path / "random.pocketmt"
        reference = write(path, random_network(shape or architecture(), seed), vocabulary, grouping)
        with open_model(path) as file:
            return native_model(file, workers, instruction_set), reference

    return make


def sentences(count: int, *, seed: int = 0, longest: int = 20) -> list[list[int]]:
    """Random piece ids below 120."""
    draw = random.Random(seed)
    return [[draw.randrange(4, 120) for _ in range(draw.randint(1, longest))] for _ in range(count)]


def search_options(**changes: object) -> _native.SearchOptions:
    """Search options: by default beam 4, one translation, with scores."""
    options: dict[str, object] = {
        "beam_size": 4,
        "n_best": 1,
        "length_penalty": 1.0,
        "max_length": None,
        "min_length": 0,
        "scores": True,
    }
    return _native.SearchOptions(**{**options, **changes})  # type: ignore[arg-type]
