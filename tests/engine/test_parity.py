"""The engine computes what PyTorch defines."""

import numpy as np
import pytest

from pocketmt.models.search import beam_search, greedy_search
from tests.engine.conftest import Loader, search_options, sentences
from tests.engine.reference import GROUPINGS, architecture, native_logits, reference_logits

SHAPES: dict[str, dict[str, object]] = {
    "post-norm": {},
    "pre-norm": {"norm": "pre"},
    "attention biases": {"attention_bias": True},
    "pre-norm, biases, narrow attention, odd sizes": {
        "norm": "pre",
        "attention_bias": True,
        "model_dimension": 38,
        "feed_forward_dimension": 51,
        "attention_heads": 3,
        "attention_dimension": 12,
        "encoder_layers": 3,
        "decoder_layers": 1,
    },
    "one head, wide attention": {"attention_heads": 1, "attention_dimension": 68},
    "recurrent decoder": {"decoder_autoregression": "ssru", "attention_bias": True, "model_dimension": 38},
    "recurrent decoder, pre-norm, tied": {
        "decoder_autoregression": "ssru",
        "norm": "pre",
        "tied_decoder_layers": True,
        "decoder_layers": 3,
    },
    "tied self-attention decoder": {"tied_decoder_layers": True, "decoder_layers": 3},
    "layers of many sizes": {
        "encoder_heads": (1, 3),
        "encoder_feed_forward": (48, 5),
        "decoder_heads": (4, 2),
        "decoder_cross_heads": (1, 3),
        "decoder_feed_forward": (7, 33),
    },
    "recurrent decoder, layers of many sizes": {
        "decoder_autoregression": "ssru",
        "encoder_heads": (2, 1),
        "encoder_feed_forward": (1, 40),
        "decoder_cross_heads": (4, 1),
        "decoder_feed_forward": (48, 2),
    },
    "average attention decoder": {"decoder_autoregression": "average_attention", "model_dimension": 38},
    "average attention decoder, pre-norm, feed-forward, no gate, tied": {
        "decoder_autoregression": "average_attention",
        "average_attention_dimension": 51,
        "average_attention_activation": "swish",
        "average_attention_gate": False,
        "norm": "pre",
        "tied_decoder_layers": True,
        "decoder_layers": 3,
    },
    "average attention decoder, feed-forward": {
        "decoder_autoregression": "average_attention",
        "average_attention_dimension": 40,
        "embedding_norm": True,
    },
    "more rows than are packed at a time": {"feed_forward_dimension": 1100},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_fp32_logits(load: Loader, shape: dict[str, object]) -> None:
    model, reference = load(architecture(**shape))
    for source, target in zip(sentences(6), sentences(6, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        np.testing.assert_allclose(native_logits(model, source, target), expected, atol=1e-3, rtol=0)


def test_a_sentence_longer_than_any_block(load: Loader) -> None:
    model, reference = load()
    source, target = sentences(1, longest=1)[0] * 700, sentences(1, seed=3, longest=1)[0] * 300
    expected = reference_logits(reference, source, target)
    np.testing.assert_allclose(native_logits(model, source, target), expected, atol=1e-3, rtol=0)


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("shape", [*list(SHAPES)[:2], *list(SHAPES)[3:6], "layers of many sizes"])
def test_quantized_logits(load: Loader, grouping: str, shape: str) -> None:
    # A float that differs in its last bit may round to the neighbouring activation code, a step of 1/127 of its row's
    # largest. That is rare, so that most logits agree as closely as floats do, and none is far off.
    model, reference = load(architecture(**SHAPES[shape]), GROUPINGS[grouping])
    errors = []
    for source, target in zip(sentences(6), sentences(6, seed=1), strict=True):
        expected = reference_logits(reference, source, target)
        scale = np.sqrt(np.mean(expected**2))
        errors.append(np.abs(native_logits(model, source, target) - expected).ravel() / scale)
    assert np.median(np.concatenate(errors)) < 1e-5
    assert np.max(np.concatenate(errors)) < 10 / 127


@pytest.mark.parametrize("grouping", [None, *GROUPINGS])
def test_greedy_search(load: Loader, grouping: str | None) -> None:
    model, reference = load(grouping=GROUPINGS[grouping]) if grouping else load()
    sources = sentences(30)
    found = model.translate(sources, search_options(beam_size=1, scores=False))
    expected = greedy_search(reference, sources)
    equal = sum(hypotheses[0][0] == ids for hypotheses, ids in zip(found, expected, strict=True))
    assert equal >= (30 if grouping is None else 27)


STUDENTS = [name for name in SHAPES if "decoder" in name or ("sizes" in name and "odd" not in name)]


@pytest.mark.parametrize("shape", STUDENTS)
@pytest.mark.parametrize("grouping", [None, "mixed"])
def test_students_translate(load: Loader, shape: str, grouping: str | None) -> None:
    model, reference = load(architecture(**SHAPES[shape]), *([] if grouping is None else [GROUPINGS[grouping]]))
    sources = sentences(12)
    for beam_size in (1, 3):
        found = model.translate(sources, search_options(beam_size=beam_size))
        assert found == [model.translate([source], search_options(beam_size=beam_size))[0] for source in sources]
        expected = [list(best[0].ids) for best in beam_search(reference, sources, beam_size)]
        equal = sum(hypotheses[0][0] == ids for hypotheses, ids in zip(found, expected, strict=True))
        assert equal >= (12 if grouping is None else 10)


@pytest.mark.parametrize("beam_size", [2, 4, 7])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_beam_search(load: Loader, beam_size: int, length_penalty: float) -> None:
    model, reference = load(architecture(norm="pre"))
    sources = sentences(12)
    options = search_options(beam_size=beam_size, n_best=beam_size, length_penalty=length_penalty)
    found = model.translate(sources, options)
    expected = beam_search(reference, sources, beam_size, length_penalty)
    for ours, theirs in zip(found, expected, strict=True):
        assert [ids for ids, _ in ours] == [list(hypothesis.ids) for hypothesis in theirs]
        np.testing.assert_allclose([score for _, score in ours], [h.score for h in theirs], atol=1e-3)


def test_greedy_scores_are_log_probabilities(load: Loader) -> None:
    model, reference = load()
    sources = sentences(5)
    for source, [(ids, score)] in zip(sources, model.translate(sources, search_options(beam_size=1)), strict=True):
        logits = reference_logits(reference, source, ids).astype(np.float64)
        logits[:, [0, 1, 3]] = -np.inf
        limit = 2 * len(source) + 20
        chosen = [*ids, 2] if len(ids) < limit else ids
        log_probabilities = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        assert score == pytest.approx(log_probabilities[range(len(chosen)), chosen].mean(), abs=1e-3)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_forced_length(load: Loader, beam_size: int) -> None:
    model, _ = load()
    options = search_options(beam_size=beam_size, n_best=beam_size, min_length=17, max_length=17)
    for hypotheses in model.translate(sentences(8), options):
        assert {len(ids) for ids, _ in hypotheses} <= {16, 17}  # eos may be the last token
        assert all(2 not in ids for ids, _ in hypotheses)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_default_limit_leaves_room_for_the_least_length(load: Loader, beam_size: int) -> None:
    model, _ = load()
    options = search_options(beam_size=beam_size, n_best=beam_size, min_length=60)
    [hypotheses] = model.translate([[5, 6, 7]], options)
    assert {len(ids) for ids, _ in hypotheses} <= {59, 60}  # eos may be the last token
    all_but_one = [[piece] for piece in range(4, 120) if piece != 50]
    options = search_options(beam_size=1, min_length=60, repeat_limit=3, suppressed_sequences=all_but_one)
    assert model.translate([[5, 6, 7]], options)[0][0][0] == [50, 50, 50]
