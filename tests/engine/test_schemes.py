"""Every stored scheme: from its packed bits the engine computes what PyTorch defines, and the same on every CPU."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, native_logits, random_network, reference_logits

METADATA = ModelMetadata(source_language="en", target_language="de")
PIECES = 120
GRANULARITIES = ("row", "matrix")
SCHEMES: dict[str, Scheme] = {
    "uniform": scheme_from_options("uniform"),
    "uniform matrix": scheme_from_options("uniform", granularity="matrix"),
    "uniform float32": scheme_from_options("uniform", scales="float32"),
    **{
        f"affine {bits} {granularity}": scheme_from_options("affine", bits=bits, granularity=granularity)
        for bits in (4, 6, 8)
        for granularity in GRANULARITIES
    },
    **{
        f"logarithmic {bits} {granularity}": scheme_from_options("logarithmic", bits=bits, granularity=granularity)
        for bits in (1, 2, 3, 4)
        for granularity in GRANULARITIES
    },
    **{f"codebook {bits}": scheme_from_options("codebook", bits=bits) for bits in (1, 2, 3, 4, 8)},
    "fixed binarization": scheme_from_options("binarization_fixed"),
    "flexible binarization": scheme_from_options("binarization_flexible"),
    **{f"binary {bits}": scheme_from_options("binary", bits=bits) for bits in (1, 2, 3, 4)},
}
SHAPES: dict[str, dict[str, object]] = {
    "even": {},
    "odd": {
        "norm": "pre",
        "attention_bias": True,
        "model_dimension": 38,
        "feed_forward_dimension": 51,
        "attention_heads": 3,
        "attention_dimension": 12,
    },
}
Groups = tuple[RowGroup, ...]


def rows_of_groups(*schemes: Scheme) -> Groups:
    """The embedding's rows, in groups such that neighbours are in different ones."""
    return tuple(
        RowGroup(scheme, tuple(row for row in range(PIECES) if row * 7 % 17 % len(schemes) == index))
        for index, scheme in enumerate(schemes)
    )


GROUPS: dict[str, Groups] = {
    "two": rows_of_groups(SCHEMES["uniform"], SCHEMES["binary 2"]),
    "three": rows_of_groups(SCHEMES["binary 4"], SCHEMES["binary 3"], SCHEMES["binary 1"]),
    "nine": rows_of_groups(
        *(SCHEMES[name] for name in ("affine 6 row", "codebook 3", "logarithmic 2 row", "binary 1", "uniform")),
        *(SCHEMES[name] for name in ("codebook 8", "affine 4 matrix", "uniform matrix", "uniform float32")),
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pocketmt"


def write(
    path: Path, vocabulary: Vocabulary, embedding: Groups, others: Groups, shape: str = "even"
) -> TranslationNetwork:
    """Write a random network, and return the network that PyTorch must run to agree with the engine."""
    model = random_network(architecture(**SHAPES[shape]))
    choice = {"embedding.weight": embedding, "*": others}
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary.model, choice, METADATA))
    return load_reference(path)


def load(path: Path, instruction_set: str | None = None) -> _native.Model:
    with open_model(path) as file:
        return native_model(file, 1, instruction_set)


def relative_errors(
    path: Path, reference: TranslationNetwork, pairs: Iterable[tuple[list[int], list[int]]]
) -> np.ndarray:
    """Differences of teacher-forced logits from PyTorch's, divided by the latter's root mean square."""
    model, errors = load(path), []
    for source, target in pairs:
        expected = reference_logits(reference, source, target)
        errors.append(np.abs(native_logits(model, source, target) - expected).ravel() / np.sqrt(np.mean(expected**2)))
    return np.concatenate(errors)


def assert_parity(path: Path, reference: TranslationNetwork) -> None:
    """As test_parity.test_quantized_logits, which says why."""
    errors = relative_errors(path, reference, zip(sentences(6), sentences(6, seed=1), strict=True))
    assert np.median(errors) < 1e-5
    assert np.max(errors) < 10 / 127


def assert_sameness(path: Path) -> None:
    """Translations are the same in any batch and on every CPU."""
    source, target = sentences(2, longest=40)
    models = [load(path, name) for name in _native.instruction_sets()]
    assert len({model.logits(source, target) for model in models}) == 1
    sources = [*sentences(12), []]
    options = search_options(beam_size=3, n_best=3)
    together = models[0].translate(sources, options)
    assert [models[0].translate([source], options)[0] for source in sources] == together


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme(path: Path, vocabulary: Vocabulary, scheme: str, shape: str) -> None:
    groups = (RowGroup(SCHEMES[scheme]),)
    reference = write(path, vocabulary, groups, groups, shape)
    assert_parity(path, reference)
    assert_sameness(path)


@pytest.mark.parametrize("groups", GROUPS)
def test_rows_of_a_group_anywhere(path: Path, vocabulary: Vocabulary, groups: str) -> None:
    reference = write(path, vocabulary, GROUPS[groups], (RowGroup(SCHEMES["binary 3"]),))
    assert_parity(path, reference)
    assert_sameness(path)


def test_rows_anywhere_with_bias_and_relu(path: Path, vocabulary: Vocabulary) -> None:
    model = random_network(architecture())
    inner = "encoder.layers.1.feed_forward.inner.weight"
    rows = len(model.state_dict()[inner])
    even, odd = tuple(range(0, rows, 2)), tuple(range(1, rows, 2))
    choice: dict[str, Scheme | Groups] = {
        inner: (RowGroup(SCHEMES["affine 8 row"], odd), RowGroup(SCHEMES["binary 4"], even)),
        "*": SCHEMES["uniform"],
    }
    pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary.model, choice, METADATA))
    assert_parity(path, load_reference(path))
    assert_sameness(path)
