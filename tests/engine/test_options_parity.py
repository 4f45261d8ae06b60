"""Networks with the options of other programs: the engine computes what PyTorch defines, in random combinations."""

import random
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.model_file import Architecture, open_model
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.model_file.writer import FileTensor, write_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.packing.encoding import encode_float32, encode_matrix
from pocketmt.packing.reference.network import load_reference
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, manifest, native_logits, random_network, reference_logits

Changes = dict[str, Any]
# Each option's settings, the default first.
OPTIONS: dict[str, list[Changes]] = {
    "activation": [{}, *({"activation": name} for name in ("swish", "gelu", "gelu_tanh", "gelu_sigmoid"))],
    "positions": [{}, {"positions": "concatenated"}, {"positions": "concatenated_inclusive"}],
    "offset": [{}, {"position_offset": 2}],
    "embedding norm": [{}, {"embedding_norm": True}],
    "embeddings": [{}, {"embeddings": "separate"}, {"embeddings": "separate", "source_vocabulary_size": 131}],
    "output": [{}, {"output_projection": "untied"}],
    "output bias": [{}, {"output_bias": True}],
    "scale": [{}, {"scale_embeddings": False}],
    "special pieces": [
        {},
        {"first_decoder_input": "eos"},
        {"first_decoder_input": "zero", "pad_id": None, "bos_id": None, "eos_id": 0, "unk_id": 1},
        {"first_decoder_input": "pad", "pad_id": 119, "bos_id": None, "eos_id": 100, "unk_id": 50},
    ],
    "bans": [{}, {"ban_special_pieces": False}, {"banned_ids": (5, 17, 18, 90)}],
    "end of sources": [{}, {"append_source_eos": False}],
    "epsilon": [{}, {"normalization_epsilon": 1e-6}, {"normalization_epsilon": 0.1}],
    "norm": [{}, {"norm": "pre"}],
    "decoder": [
        {},
        {"decoder_autoregression": "ssru"},
        {"tied_decoder_layers": True},
        {"decoder_autoregression": "average_attention"},
        {
            "decoder_autoregression": "average_attention",
            "average_attention_dimension": 29,
            "average_attention_activation": "swish",
            "tied_decoder_layers": True,
        },
        {
            "decoder_autoregression": "average_attention",
            "average_attention_dimension": 24,
            "average_attention_gate": False,
        },
    ],
    "sizes": [
        {},
        {"model_dimension": 38, "feed_forward_dimension": 51, "attention_heads": 3, "attention_dimension": 12},
    ],
}
SCHEMES: dict[str, Scheme | None] = {
    "fp32": None,
    "8 bit": scheme_from_options("uniform"),
    "binary": scheme_from_options("binary", bits=3),
}


def pairwise(seed: int = 1) -> list[Changes]:
    """Combinations drawn at random until each setting has met each setting of every other option."""
    draw = random.Random(seed)
    names = list(OPTIONS)
    missing = {
        ((one, i), (other, j))
        for one, other in combinations(names, 2)
        for i, j in product(range(len(OPTIONS[one])), range(len(OPTIONS[other])))
    }
    found = []
    while missing:
        candidates = [[(name, draw.randrange(len(OPTIONS[name]))) for name in names] for _ in range(50)]
        best = max(candidates, key=lambda each: len(missing.intersection(combinations(each, 2))))
        missing -= set(combinations(best, 2))
        found.append({key: value for name, i in best for key, value in OPTIONS[name][i].items()})
    return found


COMBINATIONS = pairwise()
Opened = Callable[..., tuple[_native.Model, TranslationNetwork]]


@pytest.fixture
def opened(tmp_path: Path, vocabulary: Vocabulary) -> Opened:
    """Write a random network in a scheme, and open it: the native model, and its PyTorch reference."""

    def make(
        shape: Architecture, scheme: Scheme | None = None, shortlist: Shortlist | None = None
    ) -> tuple[_native.Model, TranslationNetwork]:
        path = tmp_path / "model.pocketmt"
        tensors: dict[str, FileTensor] = {}
        matrices: dict[str, list[list[int]]] = {}
        for name, weight in random_network(shape).state_dict().items():
            if scheme is None or weight.dim() != 2:
                tensors |= encode_float32(name, weight).tensors
            else:
                tensors |= encode_matrix(name, weight, [RowGroup(scheme)]).tensors
                matrices[name] = [[0, len(weight)]]
        schemes = [] if scheme is None else [scheme.stored_form()]
        write_model(path, manifest(shape, vocabulary, schemes, matrices), tensors, vocabulary.model)
        if shortlist is not None:
            add_shortlist(path, shortlist, path)
        with open_model(path) as file:
            return native_model(file), load_reference(path)

    return make


def assert_equal_logits(model: _native.Model, reference: TranslationNetwork, exact: bool) -> None:
    errors = []
    for source, target in zip(sentences(4), sentences(4, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        scale = np.sqrt(np.mean(expected**2))
        errors.append(np.abs(native_logits(model, source, target) - expected).ravel() / scale)
    every = np.concatenate(errors)
    if exact:
        assert np.max(every) < 1e-4
    # A float that differs in its last bit may round to the neighbouring activation code.
    assert np.median(every) < 1e-5
    assert np.max(every) < 20 / 127


def assert_equal_translations(model: _native.Model, reference: TranslationNetwork, exact: bool) -> None:
    sources = sentences(4)
    limit = {"max_length": 12}
    greedy = model.translate(sources, search_options(beam_size=1, scores=False, **limit))
    expected = greedy_search(reference, sources, lambda _: 12)
    equal = sum(each[0][0] == ids for each, ids in zip(greedy, expected, strict=True))
    beams = model.translate(sources, search_options(beam_size=3, **limit))
    best = beam_search(reference, sources, 3, maximum_length=lambda _: 12)
    equal += sum(each[0][0] == list(ids[0].ids) for each, ids in zip(beams, best, strict=True))
    assert equal >= (8 if exact else 5)


@pytest.mark.parametrize("changes", [each for settings in OPTIONS.values() for each in settings[1:]], ids=str)
def test_each_option_alone(opened: Opened, changes: Changes) -> None:
    model, reference = opened(architecture(**changes))
    assert_equal_logits(model, reference, exact=True)
    assert_equal_translations(model, reference, exact=True)


@pytest.mark.parametrize(
    ("index", "scheme"),
    [(index, scheme) for index in range(len(COMBINATIONS)) for scheme in ("fp32", ("8 bit", "binary")[index % 2])],
)
def test_combinations(opened: Opened, index: int, scheme: str) -> None:
    model, reference = opened(architecture(**COMBINATIONS[index]), SCHEMES[scheme])
    assert_equal_logits(model, reference, exact=scheme == "fp32")
    assert_equal_translations(model, reference, exact=scheme == "fp32")


@pytest.mark.parametrize("index", range(0, len(COMBINATIONS), 3))
def test_shortlists_of_combinations(opened: Opened, index: int) -> None:
    shape = architecture(**COMBINATIONS[index])
    draw = random.Random(index)

    def some(count: int) -> list[int]:
        return sorted(draw.sample(range(shape.vocabulary_size), count))

    shortlist = Shortlist(some(30), [some(draw.randint(0, 4)) for _ in range(shape.source_size)], listed_sides(shape))
    model, reference = opened(shape, None, shortlist)
    sources = sentences(5)
    allowed = [shortlist.pieces(source) for source in sources]
    limit = {"max_length": 12}
    found = model.translate(sources, search_options(beam_size=1, scores=False, **limit))
    assert [each[0][0] for each in found] == greedy_search(reference, sources, lambda _: 12, allowed)
    found = model.translate(sources, search_options(beam_size=3, **limit))
    best = beam_search(reference, sources, 3, maximum_length=lambda _: 12, allowed=allowed)
    assert [each[0][0] for each in found] == [list(each[0].ids) for each in best]


def test_combinations_cover_all_pairs() -> None:
    assert 15 <= len(COMBINATIONS) <= 60
