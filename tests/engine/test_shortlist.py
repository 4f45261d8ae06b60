"""Shortlists: one for each sentence; logits of gathered rows are those of the whole product, bit for bit."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import Translator, _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.shortlist_encoding import Shortlist, encode_shortlist
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine import test_fully_quantized, test_schemes
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, native_logits, plain, random_network
from tests.engine.reference import write as write_plain
from tests.engine.test_products import calibrated
from tests.engine.test_schemes import GROUPS, METADATA, SCHEMES

PIECES = 120
SPECIAL = [0, 1, 2, 3]
NEVER = [0, 1, 3]
EVERYTHING = Shortlist(list(range(PIECES)), [[]] * PIECES)
UNIFORM = (RowGroup(SCHEMES["uniform"]),)
FAMILIES = (
    *("uniform", "affine 4 row", "affine 6 row", "affine 8 matrix", "logarithmic 1 row", "logarithmic 3 matrix"),
    *("logarithmic 4 row", "codebook 8", "binary 1", "binary 2", "binary 3", "binary 4"),
)
EMBEDDINGS = {**{name: (RowGroup(SCHEMES[name]),) for name in FAMILIES}, **GROUPS}
EMBEDDINGS["runs of rows"] = (
    RowGroup(SCHEMES["uniform"], tuple(range(50))),
    RowGroup(SCHEMES["affine 4 row"], tuple(range(50, 70))),
    RowGroup(SCHEMES["binary 2"], tuple(range(70, PIECES))),
)


def random_shortlist(seed: int = 0, targets: int = 4, frequent: int = 9) -> Shortlist:
    draw = random.Random(seed)

    def some(count: int) -> list[int]:
        return sorted(draw.sample(range(4, PIECES), count))

    return Shortlist(some(frequent), [some(draw.randint(0, targets)) for _ in range(PIECES)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.pocketmt"


def load(path: Path, shortlist: Shortlist, workers: int = 1, instruction_set: str | None = None) -> _native.Model:
    add_shortlist(path, shortlist, path)
    with open_model(path) as file:
        return native_model(file, workers, instruction_set)


def restricted_greedy(
    model: _native.Model, source: list[int], pieces: list[int], limit: int
) -> tuple[list[int], float]:
    """Greedy search among some pieces by the logits of the whole product; also their mean log-probability."""
    ids: list[int] = []
    total = 0.0
    while len(ids) < limit:
        logits = native_logits(model, source, ids)[-1].astype(np.float64)
        allowed = [piece for piece in pieces if piece not in NEVER]
        best = max(allowed, key=lambda piece: (logits[piece], -piece))
        total += logits[best] - math.log(sum(math.exp(logits[piece]) for piece in allowed))
        if best == 2:
            return ids, total / (len(ids) + 1)
        ids.append(best)
    return ids, total / limit


@pytest.mark.parametrize("embedding", [None, *EMBEDDINGS])
def test_pieces_have_the_logits_of_the_whole_product(path: Path, vocabulary: Vocabulary, embedding: str | None) -> None:
    if embedding is None:
        write_plain(path, random_network(architecture()), vocabulary, plain)
    else:
        test_schemes.write(path, vocabulary, EMBEDDINGS[embedding], UNIFORM)
    model = load(path, shortlist := random_shortlist())
    sources = sentences(6, longest=9)
    found = model.translate(sources, search_options(beam_size=1, max_length=8))
    for source, [(ids, score)] in zip(sources, found, strict=True):
        expected, expected_score = restricted_greedy(model, source, shortlist.pieces(source), 8)
        assert ids == expected
        assert score == pytest.approx(expected_score, abs=1e-5)
    everything, options = load(path, EVERYTHING), search_options(beam_size=3, n_best=3)
    whole = everything.translate(sources, search_options(beam_size=3, n_best=3, shortlist=False))
    assert everything.translate(sources, options) == whole
    assert model.translate(sources, options) != whole


@pytest.mark.parametrize("activations", ["trained ranges", "calibrated scales", "log scale"])
def test_every_kind_of_activations(path: Path, vocabulary: Vocabulary, activations: str) -> None:
    """The output bias from a quantized input's offset is gathered, too; the scale is that of the whole matrix."""
    if activations == "trained ranges":
        test_fully_quantized.write(path, vocabulary, test_fully_quantized.EXACT["no buckets"])
    else:
        network = random_network(architecture(decoder_autoregression="ssru"))
        products = calibrated(network) if activations == "calibrated scales" else LogarithmicActivations(4, 4.0)
        pack(
            path,
            ModelContents(
                network.state_dict(),
                network.architecture,
                vocabulary.model,
                "uniform8",
                METADATA,
                activation_quantization=products,
            ),
        )
    model = load(path, shortlist := random_shortlist())
    sources = sentences(6, longest=9)
    found = model.translate(sources, search_options(beam_size=1, max_length=8))
    for source, [(ids, score)] in zip(sources, found, strict=True):
        expected, expected_score = restricted_greedy(model, source, shortlist.pieces(source), 8)
        assert ids == expected
        assert score == pytest.approx(expected_score, abs=1e-5)


@pytest.mark.parametrize("embedding", [None, "uniform", "binary 3", "nine"])
def test_the_reference_finds_the_same(path: Path, vocabulary: Vocabulary, embedding: str | None) -> None:
    if embedding is None:
        network = random_network(architecture())
        reference = write_plain(path, network, vocabulary, plain)
    else:
        reference = test_schemes.write(path, vocabulary, EMBEDDINGS[embedding], UNIFORM)
    model = load(path, shortlist := random_shortlist())
    sources = sentences(20)
    allowed = [shortlist.pieces(source) for source in sources]
    greedy = greedy_search(reference, sources, allowed=allowed)
    found = model.translate(sources, search_options(beam_size=1, scores=False))
    # Quantized activations may be rounded to other codes (test_parity.test_quantized_logits), floats are not.
    least = 20 if embedding is None else 17
    assert sum(one[0][0] == ids for one, ids in zip(found, greedy, strict=True)) >= least
    beams = beam_search(reference, sources, 4, allowed=allowed)
    found = model.translate(sources, search_options())
    assert sum(one[0][0] == list(best[0].ids) for one, best in zip(found, beams, strict=True)) >= least
    for source, pieces in zip(found, allowed, strict=True):
        assert set(source[0][0]) <= set(pieces)


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("embedding", ["uniform", "three", "runs of rows"])
def test_neighbours_do_not_matter(path: Path, vocabulary: Vocabulary, embedding: str, beam_size: int) -> None:
    test_schemes.write(path, vocabulary, EMBEDDINGS[embedding], UNIFORM)
    shortlist = random_shortlist()
    model = load(path, shortlist)
    options = search_options(beam_size=beam_size, n_best=beam_size)
    sources = [*sentences(20), [], *sentences(3, seed=5, longest=150)]
    together = model.translate(sources, options)
    assert [model.translate([source], options)[0] for source in sources] == together
    assert model.translate(sources[::-1], options)[::-1] == together
    assert load(path, shortlist, workers=3).translate(sources, options) == together
    for name in _native.instruction_sets():
        assert load(path, shortlist, instruction_set=name).translate(sources[:10], options) == together[:10]


def test_a_list_shorter_than_the_beam_is_not_used(path: Path, vocabulary: Vocabulary) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    # Source piece 7 has 3 pieces in its list besides the special ones, others have 2.
    targets = [[8, 9] if piece == 7 else [9] for piece in range(PIECES)]
    model = load(path, Shortlist([5], targets))
    sources = [[7, 6], [6], [10, 11]]
    for beam_size, restricted in ((2, [True, True, True]), (3, [True, False, False]), (4, [False] * 3)):
        whole = model.translate(sources, search_options(beam_size=beam_size, n_best=beam_size, shortlist=False))
        found = model.translate(sources, search_options(beam_size=beam_size, n_best=beam_size))
        for ours, theirs, is_restricted in zip(found, whole, restricted, strict=True):
            assert (ours != theirs) == is_restricted
            assert not is_restricted or all(set(ids) <= {5, 8, 9} for ids, _ in ours)


def test_lengths_are_kept(path: Path, vocabulary: Vocabulary) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    model = load(path, random_shortlist())
    options = search_options(beam_size=4, n_best=4, min_length=17, max_length=17)
    for hypotheses in model.translate(sentences(8), options):
        assert {len(ids) for ids, _ in hypotheses} <= {16, 17}  # eos may be the last token


def test_logits_are_those_of_the_whole_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    source, target = sentences(2)
    with open_model(path) as file:
        before = native_model(file).logits(source, target)
    assert load(path, random_shortlist()).logits(source, target) == before


def test_a_translator_uses_it_unless_told_not_to(path: Path, vocabulary: Vocabulary) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    lines = ["the red house", "a man rides a bike"]
    whole = Translator(path).translate(lines)
    shortlist = random_shortlist()
    add_shortlist(path, shortlist, path)
    translator = Translator(path)
    assert translator.translate(lines, shortlist=False) == whole
    sources = [vocabulary.encode(line) for line in lines]
    restricted = translator.translate_ids(sources)
    assert restricted != translator.translate_ids(sources, shortlist=False)
    for source, ids in zip(sources, restricted, strict=True):
        assert set(ids) <= set(shortlist.pieces(source))
    assert translator.translate(lines) == [vocabulary.decode(ids) for ids in restricted]


HOSTILE = {
    "cut off": lambda content: content[:-1],
    "no ids": lambda content: content[:PIECES],
    "no counts": lambda content: content[: PIECES - 1],
    "a byte more": lambda content: content + b"\0",
    "counts of more": lambda content: b"\xff" * PIECES + content[PIECES:],
}


@pytest.mark.parametrize("damage", HOSTILE)
def test_the_engine_checks_the_bytes_itself(path: Path, vocabulary: Vocabulary, damage: str) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    content, _ = encode_shortlist(random_shortlist())
    with pytest.raises(ModelFileError, match="shortlist"):
        native_with(path, HOSTILE[damage](content), 9)


@pytest.mark.parametrize("frequent", [8, 10, PIECES + 1, 2**63, 2**64 - 1])
def test_a_wrong_number_of_frequent_pieces(path: Path, vocabulary: Vocabulary, frequent: int) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    with pytest.raises(ModelFileError, match="shortlist"):
        native_with(path, encode_shortlist(random_shortlist())[0], frequent)


def test_ids_are_in_range_for_any_bytes(path: Path, vocabulary: Vocabulary) -> None:
    test_schemes.write(path, vocabulary, UNIFORM, UNIFORM)
    content, _ = encode_shortlist(random_shortlist())
    noise = random.Random(3).randbytes(len(content) - PIECES)
    model = native_with(path, content[:PIECES] + noise, 9)
    for hypotheses in model.translate(sentences(10), search_options()):
        assert all(0 <= piece < PIECES for ids, _ in hypotheses for piece in ids)


def native_with(path: Path, content: bytes, frequent: int) -> _native.Model:
    """A native model of a file, with unchecked bytes of a shortlist."""
    with open_model(path) as file:
        file.shortlist = lambda: content  # type: ignore[method-assign]
        file.stored_shortlist = _Unchecked(frequent)  # type: ignore[assignment]
        return native_model(file)


class _Unchecked:
    def __init__(self, frequent: int) -> None:
        self.frequent = frequent
