"""Several networks that translate together, by the mean of their log-probabilities, as the reference search does."""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import Translator, _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import EngineError
from pocketmt.model_file import Architecture, open_model
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import beam_search, default_maximum_length
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.vocabulary import Vocabulary
from tests.engine import test_fully_quantized
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import (
    GROUPINGS,
    architecture,
    native_logits,
    plain,
    random_network,
    reference_logits,
    uniform,
    write,
)
from tests.engine.test_lstm import lstm
from tests.engine.test_shortlist import NEVER, random_shortlist

# Of different sizes and kinds.
MEMBERS: list[Architecture] = [
    architecture(),
    architecture(decoder_autoregression="ssru", model_dimension=24, encoder_layers=1),
    lstm(),
]
ENSEMBLES = {
    "self-attention and SSRU": [0, 1],
    "SSRU and self-attention": [1, 0],
    "recurrent networks alone": [1, 2],
    "all three": [0, 1, 2],
}
Together = tuple[_native.Model, list[TranslationNetwork], list[_native.Model]]
Loader = Callable[..., Together]


@pytest.fixture
def together(tmp_path: Path, vocabulary: Vocabulary) -> Loader:
    """Load an ensemble of members: the native model, the reference of each, and each alone."""

    def make(members: Sequence[int], workers: int = 1, instruction_set: str | None = None) -> Together:
        references, alone = [], []
        for number in members:
            path = tmp_path / f"{number}.pocketmt"
            references.append(write(path, random_network(MEMBERS[number], seed=number), vocabulary))
            with open_model(path) as file:
                alone.append(native_model(file, 1, instruction_set))
        return _native.Model.ensemble(alone, workers=workers), references, alone

    return make


def expected(references: list[TranslationNetwork], sources: list[list[int]], beam: int) -> list[list[list[int]]]:
    found = beam_search(references, sources, beam=beam, maximum_length=default_maximum_length)
    return [[list(each.ids) for each in hypotheses] for hypotheses in found]


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("members", ENSEMBLES)
def test_it_finds_what_the_reference_finds(together: Loader, members: str, beam: int) -> None:
    model, references, alone = together(ENSEMBLES[members])
    sources = [*sentences(12), *sentences(2, seed=5, longest=60)]
    options = search_options(beam_size=beam, n_best=beam)
    found = model.translate(sources, options)
    assert [[ids for ids, _ in hypotheses] for hypotheses in found] == expected(references, sources, beam)
    scores = beam_search(references, sources, beam=beam, maximum_length=default_maximum_length)
    for hypotheses, reference in zip(found, scores, strict=True):
        np.testing.assert_allclose(
            [score for _, score in hypotheses], [each.score for each in reference], atol=1e-4, rtol=0
        )
    assert all(each.translate(sources, options) != found for each in alone)


@pytest.mark.parametrize("instruction_set", _native.instruction_sets())
def test_each_instruction_set(together: Loader, instruction_set: str) -> None:
    model, references, _ = together([0, 1, 2], instruction_set=instruction_set)
    assert model.instruction_set == instruction_set
    found = model.translate(sentences(6), search_options(beam_size=3))
    assert [ids for [(ids, _)] in found] == [best[0] for best in expected(references, sentences(6), 3)]


def test_greedy_search_without_scores_finds_the_same(together: Loader) -> None:
    model, _, _ = together([0, 1, 2])
    scored = model.translate(sentences(8), search_options(beam_size=1))
    plain = model.translate(sentences(8), search_options(beam_size=1, scores=False))
    assert [ids for [(ids, _)] in plain] == [ids for [(ids, _)] in scored]


def test_a_model_with_itself_is_the_model(together: Loader) -> None:
    _, _, [alone] = together([0])
    twice, options = _native.Model.ensemble([alone, alone], workers=1), search_options(n_best=4)
    sources = sentences(8)
    for one, two in zip(alone.translate(sources, options), twice.translate(sources, options), strict=True):
        assert [ids for ids, _ in one] == [ids for ids, _ in two]
        np.testing.assert_allclose([score for _, score in one], [score for _, score in two], atol=1e-5)


@pytest.mark.parametrize("members", ["self-attention and SSRU", "recurrent networks alone"])
def test_translations_do_not_depend_on_neighbours_or_threads(together: Loader, members: str) -> None:
    sources = [*sentences(12), [], *sentences(2, seed=5, longest=90)]
    model, _, _ = together(ENSEMBLES[members])
    options = search_options(beam_size=3, n_best=3)
    found = model.translate(sources, options)
    assert [model.translate([source], options)[0] for source in sources] == found
    assert model.translate(sources[::-1], options)[::-1] == found
    assert together(ENSEMBLES[members], workers=3)[0].translate(sources, options) == found
    assert together(ENSEMBLES[members], workers=3)[0].translate(sources[:1], options) == found[:1]


def test_logits_are_mean_log_probabilities(together: Loader) -> None:
    model, references, alone = together([0, 1, 2])
    source, target = [5, 6, 7], [8, 9]
    logits = [reference_logits(each, source, target) for each in references]
    each = [values - np.log(np.exp(values).sum(axis=1, keepdims=True)) for values in logits]
    np.testing.assert_allclose(native_logits(model, source, target), np.mean(each, axis=0), atol=1e-3, rtol=0)
    np.testing.assert_allclose(native_logits(alone[0], source, target), logits[0], atol=1e-3, rtol=0)


def test_attention_is_the_mean_of_the_networks(together: Loader) -> None:
    model, _, alone = together([0, 1, 2])
    options = search_options(beam_size=2, token_scores=True, attention=True, max_length=3)
    prefix = [[25, 30]]  # So that all look at the same positions.
    first_rows = []
    for each in (model, *alone):
        [[(ids, _, _, rows)]] = each.submit([[5, 6, 7, 8]], options, prefix).details()
        assert ids[:2] == prefix[0]
        first_rows.append(rows[:2])
    np.testing.assert_allclose(first_rows[0], np.mean(first_rows[1:], axis=0), atol=1e-5)


def test_prefixes_and_terms(together: Loader) -> None:
    model, _, _ = together([0, 1, 2])
    options = search_options(max_length=12)
    [[(ids, _)]] = model.submit([[5, 6, 7]], options, [[25, 30]], [[([40, 41], False)]]).result()
    assert ids[:2] == [25, 30]
    assert any(ids[place : place + 2] == [40, 41] for place in range(len(ids)))


def test_shortlists_are_left_out(tmp_path: Path, vocabulary: Vocabulary) -> None:
    listed, plain = tmp_path / "listed.pocketmt", tmp_path / "plain.pocketmt"
    write(plain, random_network(MEMBERS[0]), vocabulary)
    add_shortlist(plain, random_shortlist(), listed)
    lines = ["the red dog reads.", "two old men"]
    translate = [Translator(models).translate for models in ([plain, plain], [listed, listed], listed)]
    assert translate[0](lines) == translate[1](lines) != translate[2](lines)


def test_a_translator_of_several_files(tmp_path: Path, vocabulary: Vocabulary) -> None:
    files = [tmp_path / "first.pocketmt", tmp_path / "second.pocketmt"]
    references = [
        write(path, random_network(MEMBERS[seed], seed), vocabulary, uniform) for seed, path in enumerate(files)
    ]
    translator = Translator(files, workers=2)
    source = translator.encode("the red dog reads.")
    [[best, *_]] = expected(references, [source], 4)
    assert translator.translate(["the red dog reads."], beam_size=4) == [translator.decode(best)]
    assert translator.translate(["the red dog reads."], beam_size=4) != Translator(files[0]).translate(
        ["the red dog reads."], beam_size=4
    )
    on_torch = Translator(files, device="torch-cpu")
    assert on_torch.translate(["the red dog reads."], beam_size=4) == [translator.decode(best)]
    np.testing.assert_allclose(on_torch.logits(source, best), translator.logits(source, best), atol=1e-2)


def mean_log_probabilities(alone: Sequence[_native.Model], source: list[int], ids: list[int]) -> np.ndarray:
    """Return the mean of the networks' log-probabilities [len(ids) + 1, V], without pieces that are never generated."""
    each = []
    for model in alone:
        logits = native_logits(model, source, ids).astype(np.float64)
        logits[:, NEVER] = -np.inf
        each.append(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    mean: np.ndarray = np.mean(each, axis=0)
    return mean


def check_greedy(model: _native.Model, alone: Sequence[_native.Model], sources: list[list[int]]) -> None:
    """Check that each piece is the best by the mean, and that the score is the mean of those pieces."""
    for source, [(ids, score)] in zip(sources, model.translate(sources, search_options(beam_size=1)), strict=True):
        rows = mean_log_probabilities(alone, source, ids)
        ended = len(ids) < default_maximum_length(len(source))
        chosen = [*ids, 2] if ended else ids
        picked = rows[np.arange(len(chosen)), chosen]
        np.testing.assert_allclose(picked, rows[: len(chosen)].max(axis=1), atol=1e-3)
        np.testing.assert_allclose(score, picked.mean(), atol=1e-3)


def test_vocabularies_of_several_slices(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """Logits of many rows are computed in slices of the vocabulary."""
    shapes = [
        architecture(vocabulary_size=5000),
        architecture(vocabulary_size=5000, decoder_autoregression="average_attention", output_bias=True),
        lstm(vocabulary_size=5000),
    ]
    alone = []
    for number, (shape, grouping) in enumerate(zip(shapes, GROUPINGS.values(), strict=True)):
        path = tmp_path / f"{number}.pocketmt"
        write(path, random_network(shape, number), vocabulary, plain if number == 2 else grouping)
        with open_model(path) as file:
            alone.append(native_model(file))
    model = _native.Model.ensemble(alone, workers=1)
    draw = random.Random(3)
    sources = [[draw.randrange(4, 5000) for _ in range(draw.randint(1, 12))] for _ in range(40)]
    options = search_options(beam_size=4, n_best=4)
    together = model.translate(sources, options)
    assert [model.translate([source], options)[0] for source in sources] == together
    assert len({tuple(best[0][0]) for best in together}) > 10
    check_greedy(model, alone, sources[:8])


@pytest.mark.parametrize("settings", ["no buckets", "strategy"])
def test_members_in_any_scheme(tmp_path: Path, vocabulary: Vocabulary, settings: str) -> None:
    """States of a network that attends to codes are bytes beside the floats of the others."""
    alone = []
    for number, grouping in enumerate((*GROUPINGS.values(), None)):
        path = tmp_path / f"{number}.pocketmt"
        if grouping is None:
            test_fully_quantized.write(path, vocabulary, test_fully_quantized.EXACT[settings])
        else:
            write(path, random_network(architecture(), number), vocabulary, grouping)
        with open_model(path) as file:
            alone.append(native_model(file))
    check_greedy(_native.Model.ensemble(alone, workers=1), alone, sentences(12))
    check_greedy(_native.Model.ensemble(alone[::-1], workers=1), alone, sentences(12))


@pytest.mark.parametrize(
    "changes",
    [
        {"repetition_penalty": 1.3, "no_repeat_ngram": 2},
        {"min_length": 9},
        {"unknown": True, "suppressed_sequences": [[17], [59, 17]]},
        {"sampling": (1.0, 20, 0.9, 7)},
        {"repeat_limit": 2, "length_penalty": 0.6},
    ],
)
def test_options_of_the_search(together: Loader, changes: dict[str, object]) -> None:
    _, _, [alone] = together([0])
    twice, options = _native.Model.ensemble([alone, alone], workers=1), search_options(n_best=4, **changes)
    prefixes = [[25]] * 8
    terms: list[list[tuple[list[int], bool]]] = [] if "sampling" in changes else [[([40, 41], False)]] * 8
    found = [model.submit(sentences(8), options, prefixes, terms).result() for model in (alone, twice)]
    assert found[0] == found[1]


def test_models_that_do_not_fit_are_refused(tmp_path: Path, vocabulary: Vocabulary, together: Loader) -> None:
    first, other = tmp_path / "first.pocketmt", tmp_path / "other.pocketmt"
    write(first, random_network(MEMBERS[0]), vocabulary)
    write(other, random_network(MEMBERS[0]), vocabulary, languages={"source": "en", "target": "fr"})
    with pytest.raises(EngineError, match=r"other\.pocketmt: it translates other languages than .*first\.pocketmt"):
        Translator([first, other])
    with pytest.raises(EngineError, match=r"its vocabulary is not that of .*first\.pocketmt"):
        Translator([first, "captions-en-de"])
    with pytest.raises(EngineError, match="model is empty"):
        Translator([])
    with pytest.raises(TypeError, match="model must be a path"):
        Translator([first, 3])  # type: ignore[list-item]
    _, _, [alone] = together([0])
    write(first, random_network(architecture(vocabulary_size=121)), vocabulary)
    with open_model(first) as file:
        larger = native_model(file)
    with pytest.raises(EngineError, match="models 1 and 2 of the ensemble differ in the sizes of their vocabularies"):
        _native.Model.ensemble([alone, larger], workers=1)
    with pytest.raises(EngineError, match="an ensemble needs a model"):
        _native.Model.ensemble([], workers=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first_decoder_input": "zero"}, "its first_decoder_input is zero, that of {first} bos"),
        ({"append_source_eos": False}, "its append_source_eos is False, that of {first} True"),
        ({"banned_ids": (5,)}, "its never_generated_ids is (0, 1, 3, 5), that of {first} (0, 1, 3)"),
    ],
)
def test_models_that_read_or_write_otherwise_are_refused(
    tmp_path: Path, vocabulary: Vocabulary, changes: dict[str, object], message: str
) -> None:
    first, other = tmp_path / "first.pocketmt", tmp_path / "other.pocketmt"
    write(first, random_network(MEMBERS[0]), vocabulary)
    write(other, random_network(architecture(**changes)), vocabulary)
    for device in ("cpu", "torch-cpu"):
        with pytest.raises(EngineError, match=re.escape(message.format(first=first))):
            Translator([first, other], device=device)
    with open_model(first) as one, open_model(other) as two:
        models = [native_model(one), native_model(two)]
    with pytest.raises(EngineError, match="models 1 and 2 of the ensemble differ in"):
        _native.Model.ensemble(models, workers=1)
    with pytest.raises(TypeError, match="models must not be None"):
        _native.Model.ensemble([None], workers=1)  # type: ignore[list-item]


def test_models_of_other_units_and_language_pieces_are_refused(tmp_path: Path, vocabulary: Vocabulary) -> None:
    first, other = tmp_path / "first.pocketmt", tmp_path / "other.pocketmt"
    write(first, random_network(MEMBERS[0]), vocabulary)
    write(other, random_network(MEMBERS[0]), vocabulary, unit="document")
    with pytest.raises(
        EngineError, match=r"other\.pocketmt: it translates a document at once, and .*first\.pocketmt a"
    ):
        Translator([first, other])
    pieces = {"target": {"de": vocabulary.pieces([20])[0]}, "target_place": "source"}
    write(other, random_network(MEMBERS[0]), vocabulary, language_pieces=pieces)
    with pytest.raises(EngineError, match=r"other\.pocketmt: it translates other languages than"):
        Translator([first, other])
