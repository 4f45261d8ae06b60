"""Networks with the options of other programs, trained from scratch by configuration."""

from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import Translator
from pocketmt.engine.loading import native_model
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.models.search import greedy_search
from pocketmt.packing.model_source import AnyModel
from pocketmt.packing.reference.network import load_reference
from pocketmt.packing.run import pack_run
from pocketmt.training.configuration import Model, read_configuration
from pocketmt.training.run import train
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import write_tiny_run
from tests.engine.reference import native_logits, reference_logits
from tests.training.test_students import DATA

# Marian's conventions, and what an untied network has besides.
OPTIONS = """dropout = 0.0
activation = "swish"
positions = "concatenated_inclusive"
normalization_epsilon = 1e-6
embeddings = "separate"
output_projection = "untied"
output_bias = true
first_decoder_input = "zero"
"""


def test_a_network_with_options_is_trained_packed_and_run(tmp_path: Path) -> None:
    write_tiny_run(tmp_path)
    path = tmp_path / "options.toml"
    text = DATA.format(source='"train.en"', target='"train.up"', data="vocabulary_size = 48", training="")
    path.write_text(text.replace("dropout = 0.0\n", OPTIONS))
    run = tmp_path / "trained"
    train(read_configuration(path), run, AnyModel)
    trained = read_trained_model(run)
    described = trained.architecture.to_json()
    assert described["positions"] == "concatenated_inclusive" and described["normalization_epsilon"] == 1e-6
    assert bool(trained.weights["output.bias"].any())
    pack_run(run, "float32", tmp_path / "model.pocketmt")
    reference = load_reference(tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        expected = reference_logits(reference, [5, 6, 7], [8, 9])
        np.testing.assert_allclose(native_logits(native_model(file), [5, 6, 7], [8, 9]), expected, atol=1e-4, rtol=0)
    vocabulary = trained.vocabularies.target
    (best,) = greedy_search(reference, [vocabulary.encode("red house")])
    found = Translator(tmp_path / "model.pocketmt").translate(["red house"], beam_size=1, check=False)
    assert found == [vocabulary.decode(best)]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Model(preset="lstm.tiny", activation="swish"), "has no activation: leave it out"),
        (Model(preset="lstm.tiny", embeddings="separate"), "has no embeddings: leave it out"),
        (Model(normalization_epsilon=0.2), "normalization_epsilon is 0.2"),
    ],
)
def test_options_that_a_network_does_not_have_are_refused(model: Model, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        model.architecture(100)
