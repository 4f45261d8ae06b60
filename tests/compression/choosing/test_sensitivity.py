"""Sensitivity: each score is of a network with one quantized part; table and figure."""

import dataclasses
from pathlib import Path

import pytest

from pocketmt.compression.choosing.sensitivity import PARTS, Score, Sensitivity, measure_sensitivity
from pocketmt.compression.choosing.significance import p_values
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.evaluation.sensitivity import draw_sensitivity, sensitivity_table
from pocketmt.models.networks import make_network
from pocketmt.quantization import fake_quantize
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.training.data import PairEncoder, corpus_for
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from pocketmt.training.validation import validate
from tests.compression.tiny_run import write_tiny_run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return read_trained_model(write_tiny_run(tmp_path_factory.mktemp("tiny")))


def sample() -> Sensitivity:
    bleu = {("embedding", 1): 29.0, ("embedding", 2): 28.0, ("decoder", 1): 0.5, ("decoder", 2): 9.0}
    scores = tuple(Score(part, bits, 96, 2.0, score, p_value=0.001) for (part, bits), score in bleu.items())
    return Sensitivity("binary", 8, 1.5, 31.0, scores)


def test_one_part_at_a_time_is_quantized(model: TrainedModel) -> None:
    told: list[tuple[int, int]] = []
    found = measure_sensitivity(model, bits=(2, 1), progress=lambda done, total: told.append((done, total)))
    parts = [part for part in PARTS if not part.endswith(("recurrent", "readout"))]
    assert [(score.part, score.bits) for score in found.scores] == [(part, bits) for part in parts for bits in (2, 1)]
    assert told == [(done, 17) for done in range(1, 18)]
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
    scheme = scheme_from_options("binary", bits=1)
    weights = {
        name: fake_quantize(scheme, weight) if ".cross_attention." in name else weight
        for name, weight in model.weights.items()
    }
    network = make_network(model.architecture)
    network.load_state_dict(weights)
    expected = validate(network, corpus, 384).loss
    (score,) = [each for each in found.scores if each.part == "decoder.cross_attention" and each.bits == 1]
    assert score.loss == pytest.approx(expected)
    assert score.weights == 5 * 16 * 16 - 16 * 16
    sizes = {each.part: each.weights for each in found.scores}
    assert sizes["encoder"] == sizes["encoder.self_attention"] + sizes["encoder.feed_forward"]


def test_the_number_of_sentences_is_limited(model: TrainedModel) -> None:
    found = measure_sensitivity(model, "logarithmic", {"granularity": "matrix"}, bits=(4,), sentences=3)
    assert found.sentences == 3
    assert found.scheme == "logarithmic"


def test_impossible_measurements_are_refused(model: TrainedModel) -> None:
    with pytest.raises(ConfigurationError, match="bits is 8, which the scheme does not have: give --bits 4,3,2,1"):
        measure_sensitivity(model, bits=(8,))
    with pytest.raises(DataError, match="no validation text is known"):
        measure_sensitivity(dataclasses.replace(model, configuration=None))


def test_differences_are_noise_if_hardly_any_is_significant(model: TrainedModel) -> None:
    assert not sample().is_noise
    scores = sample().scores
    by_chance = [dataclasses.replace(score, p_value=0.5) for score in scores * 4]
    assert dataclasses.replace(sample(), scores=(*by_chance, scores[0])).is_noise
    assert not dataclasses.replace(sample(), scores=(*by_chance, scores[0], scores[0])).is_noise
    # The network is untrained, so its translations are wrong whatever is quantized.
    assert measure_sensitivity(model, bits=(4, 2)).is_noise


def test_p_values_tell_worse_translations_from_equal_ones() -> None:
    references = [
        f"the {colour} {animal} sees a bird" for colour in ("red", "blue", "old") for animal in ("cat", "dog")
    ]
    worse = [line.replace("sees", "was") if number % 2 else line for number, line in enumerate(references)]
    equal, lower = p_values(references, [references, worse], references)
    assert equal > 0.5 and lower < 0.05


def test_average_degradation_by_hand() -> None:
    assert sample().degradation("embedding") == pytest.approx((29 + 28) / 2 - 31)


def test_the_table_has_a_row_for_each_part() -> None:
    lines = sensitivity_table(sample()).splitlines()
    assert lines[0].split("  ")[0] == "part"
    assert [line.split()[0] for line in lines[2:4]] == ["embedding", "decoder"]
    assert "28.0" in lines[2] and "29.0" in lines[2] and "-2.5" in lines[2]
    assert lines[4].startswith("in full precision: BLEU 31.0")


def test_bleu_of_characters_is_named(model: TrainedModel) -> None:
    short = dataclasses.replace(sample(), bleu_tokenization="char")
    assert "\nin full precision: BLEU (characters) 31.0" in sensitivity_table(short)
    # Its references have on average less than four words.
    assert measure_sensitivity(model, bits=(4,)).bleu_tokenization == "char"


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_the_picture_is_drawn(tmp_path: Path, suffix: str, begins: bytes) -> None:
    draw_sensitivity(sample(), tmp_path / f"picture{suffix}")
    assert (tmp_path / f"picture{suffix}").read_bytes().startswith(begins)
