import json
import random
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
import torch

import pocketmt
from pocketmt.errors import DataError, ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.models.transformer import Transformer
from pocketmt.packing.contents import ModelContents, Schemes
from pocketmt.packing.model_file import pack
from pocketmt.packing.scheme_choice import presets
from pocketmt.quantization import Logarithmic, Uniform
from pocketmt.text.vocabulary_training import train_vocabulary
from tests.small_network import architecture, random_transformer

METADATA = ModelMetadata(
    source_language="en",
    target_language="de",
    licence="research use",
    description="a test",
    recipe={"scheme": "uniform8"},
    training={"updates": 10},
)
MATRIX = "encoder.layers.0.feed_forward.inner.weight"


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("attention_bias", [False, True])
def test_the_architecture_names_the_parameters_of_the_model(norm: str, attention_bias: bool) -> None:
    shape = architecture(norm, attention_bias)
    state = Transformer(shape).state_dict()
    assert shape.parameter_shapes() == {name: tuple(tensor.shape) for name, tensor in state.items()}


def test_the_manifest_says_what_was_packed(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_transformer(architecture())
    size = pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, "uniform8", METADATA))
    assert size == path.stat().st_size
    with open_model(path) as file:
        assert file.architecture == model.architecture
        assert file.vocabulary() == vocabulary
        assert file.manifest["producer"] == f"pocketmt {pocketmt.__version__}"
        assert file.manifest["recipe"] == {"scheme": "uniform8"}
        assert file.manifest["training"] == {"updates": 10}
        assert (file.manifest["licence"], file.manifest["description"]) == ("research use", "a test")
        assert (file.source_language, file.target_language) == ("en", "de")
        assert file.manifest["schemes"] == [Uniform().stored_form()]
        assert set(file.matrices) == {
            name for name, shape in file.architecture.parameter_shapes().items() if len(shape) == 2
        }


def test_codes_and_scales_in_the_file_are_the_schemes(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    model = random_transformer(architecture())
    state = model.state_dict()
    schemes: Schemes = {
        "embedding.*": Logarithmic("matrix"),
        MATRIX: Logarithmic("row"),
        "*.query.weight": "float32",
        "*": Uniform(),
    }
    pack(path, ModelContents(state, model.architecture, vocabulary, schemes, METADATA))
    with open_model(path) as file:
        plain = "decoder.layers.0.cross_attention.query.weight"
        assert plain not in file.matrices
        assert bytes(file.data(plain)) == state[plain].numpy().tobytes()

        name = "encoder.layers.1.self_attention.query_key_value.weight"
        uniform = Uniform()
        parameters = uniform.fit(state[name])
        assert bytes(file.data(f"{name}.0.codes")) == uniform.assign(state[name], parameters).numpy().tobytes()
        scale = torch.frombuffer(bytearray(file.data(f"{name}.0.scale")), dtype=torch.bfloat16)
        assert torch.equal(scale.float(), parameters["scale"])

        row = Logarithmic("row")
        parameters = row.fit(state[MATRIX])
        packed = torch.frombuffer(bytearray(file.data(f"{MATRIX}.0.codes")), dtype=torch.uint8).view(21, 7)
        codes = torch.stack([packed & 15, packed >> 4], dim=2).flatten(1)
        assert torch.equal(codes, row.assign(state[MATRIX], parameters))

        matrix = Logarithmic("matrix").fit(state["embedding.weight"])["scale"]
        assert bytes(file.data("embedding.weight.0.scale")) == matrix.numpy().tobytes()


def test_a_packed_file_satisfies_the_schema(tmp_path: Path, vocabulary: bytes) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "model-file.schema.json").read_text())
    model = random_transformer(architecture())
    for name in presets():
        path = tmp_path / f"{name}.pocketmt"
        pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, name, METADATA))
        content = path.read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        jsonschema.validate(header, schema)
        jsonschema.validate(json.loads(header["__metadata__"]["pocketmt"]), {**schema, **schema["$defs"]["manifest"]})


def test_a_tiny_model_is_as_small_as_promised(tmp_path: Path) -> None:
    """Every byte of the file counts: at most 1/3.8 of fp32 in 8 bits and 1/7.3 in 4, with 6000 pieces."""
    draw = random.Random(2)
    syllables = [first + vowel + last for first in "bdfgklmnprst" for vowel in "aeiou" for last in ("", "n", "r", "s")]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(9000)]
    vocabulary = train_vocabulary([" ".join(words[start : start + 9]) for start in range(0, 9000, 9)], 6000).model
    model = make_network(preset("tiny", 6000))
    sizes = {
        name: pack(tmp_path / name, ModelContents(model.state_dict(), model.architecture, vocabulary, name, METADATA))
        for name in presets()
    }
    assert sizes["uniform8"] * 3.8 <= sizes["float32"]
    assert sizes["logarithmic4"] * 7.3 <= sizes["float32"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", [MATRIX, "encoder.layers.0.feed_forward.inner.bias"])
def test_what_is_not_finite_is_refused(tmp_path: Path, vocabulary: bytes, name: str, value: float) -> None:
    model = random_transformer(architecture())
    state = model.state_dict()
    state[name].view(-1)[3] = value
    with pytest.raises(ModelFileError, match=rf"'{name}' holds NaN or infinity: give a checkpoint from before"):
        pack(tmp_path / "model.pocketmt", ModelContents(state, model.architecture, vocabulary, "uniform8", METADATA))
    assert not list(tmp_path.iterdir())


def test_a_state_of_another_architecture_is_refused(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    shape = architecture()
    state = random_transformer(shape).state_dict()
    for changed, reason in [
        ({name: tensor for name, tensor in state.items() if name != MATRIX}, f"'{MATRIX}' is missing"),
        ({**state, "surprise": torch.zeros(1)}, "'surprise' is not part"),
        ({**state, MATRIX: state[MATRIX].T}, rf"'{MATRIX}' has shape \[14, 21\], expected \[21, 14\]"),
    ]:
        with pytest.raises(ModelFileError, match=reason):
            pack(path, ModelContents(changed, shape, vocabulary, "uniform8", METADATA))
    assert not path.exists()


def test_a_vocabulary_of_another_model_is_refused(tmp_path: Path, vocabulary: bytes) -> None:
    path = tmp_path / "model.pocketmt"
    model = make_network(preset("tiny", 61))
    with pytest.raises(ModelFileError, match="the vocabulary has 60 pieces, but the model 61"):
        pack(path, ModelContents(model.state_dict(), model.architecture, vocabulary, "uniform8", METADATA))
    with pytest.raises(DataError):
        pack(path, ModelContents(model.state_dict(), model.architecture, b"no model", "uniform8", METADATA))


def test_half_precision_weights_are_packed_as_they_are(tmp_path: Path, vocabulary: bytes) -> None:
    model = random_transformer(architecture())
    half = {name: tensor.to(torch.bfloat16) for name, tensor in model.state_dict().items()}
    path = tmp_path / "model.pocketmt"
    pack(path, ModelContents(half, model.architecture, vocabulary, "float32", METADATA))
    with open_model(path) as file:
        assert bytes(file.data(MATRIX)) == half[MATRIX].float().numpy().tobytes()
