"""Compression of a network with an embedding for each side, another output matrix, a bias and average attention."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest
import torch

from pocketmt.compression.error_compensation import compensate
from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_context import piece_counts
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import QuantizedLinear, load_reference
from pocketmt.quantization.activations.static import CalibratedActivations
from pocketmt.quantization.registry import scheme_from_options
from pocketmt.quantization.row_groups import RowGroup, decode, quantize
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.recipes.matrices import matching, matrix_names
from pocketmt.recipes.schema import Recipe
from pocketmt.training.data import PairEncoder, corpus_for
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.tiny_run import write_tiny_run
from tests.recipes.parity import assert_packed_and_run_as_in_pytorch

WORD_MATRICES = ["embedding.weight", "source_embedding.weight", "output.weight"]
METADATA = ModelMetadata(source_language="en", target_language="up")


def separate(dimension: int, pieces: int) -> Architecture:
    return TransformerArchitecture(
        encoder_layers=1,
        decoder_layers=2,
        model_dimension=dimension,
        feed_forward_dimension=dimension * 3 // 2,
        attention_heads=2,
        attention_dimension=dimension,
        norm="post",
        attention_bias=True,
        vocabulary_size=pieces,
        embeddings="separate",
        output_projection="untied",
        output_bias=True,
        activation="swish",
        decoder_autoregression="average_attention",
        average_attention_dimension=dimension + 3,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"), network=separate)


@pytest.fixture(scope="module")
def model(run: Path) -> TrainedModel:
    return read_trained_model(run)


def test_all_matrices_of_words_are_the_embedding_of_recipes(model: TrainedModel) -> None:
    names = matrix_names(model.architecture)
    assert matching(names, "embedding") == WORD_MATRICES
    averages = matching(names, "decoder.self_attention")
    assert "decoder.layers.1.average_attention.average_gate.weight" in averages and len(averages) == 8


@pytest.mark.parametrize(
    "name",
    ["8bit-static", "8bit-pruned-heads", "log4-compensated", "mixed-2.6-bits-distilled", "entropy-2-bits-distilled"],
)
def test_recipes_give_files_on_which_engine_and_pytorch_agree(name: str, run: Path, tmp_path: Path) -> None:
    assert_packed_and_run_as_in_pytorch(find_recipe(name), run, tmp_path)


def test_activations_within_ranges_are_refused(model: TrainedModel) -> None:
    with pytest.raises(ConfigurationError, match="no options of other programs"):
        make_plan(find_recipe("8bit-pruned-nodes"), model.architecture)


def test_words_are_counted_on_their_side(model: TrainedModel) -> None:
    assert model.configuration is not None
    corpus = corpus_for(model.configuration.data, PairEncoder(model.vocabularies))
    counts = piece_counts(corpus, model.architecture)
    assert list(counts) == WORD_MATRICES
    sources = Counter(id for source, _ in corpus.training for id in (*source, 2))
    targets = Counter(id for _, target in corpus.training for id in (*target, 2))
    assert counts["source_embedding.weight"] == [sources[id] for id in range(model.architecture.vocabulary_size)]
    assert counts["output.weight"] == [targets[id] for id in range(model.architecture.vocabulary_size)]
    assert counts["embedding.weight"] == counts["output.weight"]


def test_row_groups_follow_the_words_of_each_side(model: TrainedModel) -> None:
    entry = {"matrices": ["embedding"], "scheme": "binary", "bits": 4, "frequency_ratio": 2}
    recipe = msgspec.convert({"name": "x", "stages": [{"quantize": [entry]}]}, Recipe)
    (stage,) = make_plan(recipe, model.architecture).stages
    size = model.architecture.vocabulary_size
    counts = {name: range(size) for name in WORD_MATRICES} | {"source_embedding.weight": range(size, 0, -1)}
    groups = stage.row_groups(model.weights, counts)
    assert list(groups) == WORD_MATRICES
    rarest = {name: next(each.rows for each in parts if each.scheme.bits == 1) for name, parts in groups.items()}
    assert rarest["embedding.weight"] == rarest["output.weight"]
    assert 0 in (rarest["output.weight"] or ()) and 0 not in (rarest["source_embedding.weight"] or ())


def test_bits_by_frequency_of_other_matrices_are_refused(model: TrainedModel) -> None:
    entry = {"matrices": ["embedding", "decoder.feed_forward"], "scheme": "binary", "bits": 4, "frequency_ratio": 2}
    recipe = msgspec.convert({"name": "x", "stages": [{"quantize": [entry]}]}, Recipe)
    with pytest.raises(ConfigurationError, match="only the embedding's rows are words"):
        make_plan(recipe, model.architecture)


def test_rows_that_are_looked_up_are_rounded_without_compensation(model: TrainedModel) -> None:
    groups = dict.fromkeys(WORD_MATRICES, (RowGroup(scheme_from_options("affine", bits=4)),))
    found = compensate(model.network(), groups, [([5, 6, 7], [8, 9]), ([10, 11], [12])])
    plain = {name: quantize(groups[name], model.weights[name]) for name in WORD_MATRICES}
    same = {name: torch.equal(found[name][0].codes, plain[name][0].codes) for name in WORD_MATRICES}
    assert same == {"embedding.weight": True, "source_embedding.weight": True, "output.weight": False}


def test_scales_of_inputs_belong_to_matrices_that_inputs_are_multiplied_with(
    model: TrainedModel, tmp_path: Path
) -> None:
    path = tmp_path / "model.pocketmt"
    scheme = scheme_from_options("uniform")
    multiplied = [name for name in matrix_names(model.architecture) if name not in WORD_MATRICES[:2]]
    scales = CalibratedActivations({name: torch.tensor([0.05]) for name in multiplied})
    contents = ModelContents(
        model.weights,
        model.architecture,
        model.vocabularies.stored,
        {"*": scheme},
        METADATA,
        activation_quantization=scales,
    )
    pack(path, contents)
    with open_model(path) as file:
        stored = {name for name in file.tensors if name.endswith(".activation_scale")}
    assert {name.replace(".weight.activation_scale", ".weight") for name in stored} == set(multiplied)
    reference = load_reference(path)
    groups = (RowGroup(scheme),)
    decoded = decode(groups, quantize(groups, model.weights["source_embedding.weight"]))
    assert torch.equal(reference.source_embedding.weight, decoded)
    assert isinstance(reference.projection, QuantizedLinear) and reference.projection.bias is not None
    assert torch.equal(reference.projection.bias, model.weights["output.bias"])
