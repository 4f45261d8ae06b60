"""A foreign model becomes a model file tensor by tensor, and what does not fit is refused with nothing written."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pocketmt.errors import InteropError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor, of_array, stacked, transposed
from pocketmt.interop.formats import read_foreign
from pocketmt.interop.importing import write_foreign
from pocketmt.model_file import TransformerArchitecture, open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.text.stored_vocabulary import StoredVocabularies
from pocketmt.text.vocabulary_training import train_vocabulary


@pytest.fixture(scope="module")
def model() -> ForeignModel:
    vocabulary = train_vocabulary(["one two three", "four five six"], 24)
    architecture = TransformerArchitecture(
        encoder_layers=1,
        decoder_layers=1,
        model_dimension=8,
        feed_forward_dimension=16,
        attention_heads=2,
        attention_dimension=8,
        norm="post",
        attention_bias=True,
        vocabulary_size=len(vocabulary),
    )
    random = np.random.default_rng(1)
    tensors = {
        name: of_array(random.standard_normal(shape, dtype=np.float32))
        for name, shape in architecture.parameter_shapes().items()
    }
    metadata = ModelMetadata(source_language="en", target_language="de", licence="CC-BY-4.0")
    return ForeignModel(
        architecture=architecture,
        tensors=tensors,
        vocabularies=StoredVocabularies(vocabulary.stored),
        metadata=metadata,
    )


def test_weights_and_description_are_those_of_the_model(model: ForeignModel, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    assert write_foreign(model, path) == path.stat().st_size
    with open_model(path) as file:
        assert file.architecture == model.architecture
        assert (file.source_language, file.target_language) == ("en", "de")
        assert file.manifest["licence"] == "CC-BY-4.0"
        for name, tensor in model.tensors.items():
            assert bytes(file.data(name)) == tensor.read().tobytes()


def test_a_tensor_is_read_block_by_block(model: ForeignModel, tmp_path: Path) -> None:
    whole = model.tensors["embedding.weight"].read()

    def blocks() -> Iterator[Float32]:
        yield from np.split(whole, len(whole))

    tensors = {**model.tensors, "embedding.weight": ForeignTensor(whole.shape, blocks)}
    write_foreign(model, tmp_path / "whole.pocketmt")
    write_foreign(replace(model, tensors=tensors), tmp_path / "blocks.pocketmt")
    assert (tmp_path / "whole.pocketmt").read_bytes() == (tmp_path / "blocks.pocketmt").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder.layers.0.feed_forward.inner.bias": None}, "no tensor for encoder.layers.0.feed_forward.inner.bias"),
        ({"surplus": of_array(np.zeros(3, np.float32))}, "no place for surplus"),
        ({"embedding.weight": of_array(np.zeros((3, 8), np.float32))}, r"embedding.weight is \[3, 8\]"),
        (
            {"encoder.layers.0.feed_forward.inner.bias": of_array(np.full(16, np.nan, np.float32))},
            "feed_forward.inner.bias holds a value that is not finite",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_refused(
    model: ForeignModel, tmp_path: Path, changes: dict[str, ForeignTensor | None], message: str
) -> None:
    tensors = {name: tensor for name, tensor in {**model.tensors, **changes}.items() if tensor is not None}
    with pytest.raises(InteropError, match=message):
        write_foreign(replace(model, tensors=tensors), tmp_path / "model.pocketmt")
    assert not list(tmp_path.iterdir())


def test_tensors_are_stacked_and_transposed() -> None:
    first, second = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((1, 3), np.float32)
    both = transposed(stacked(of_array(first), of_array(second)))
    assert both.shape == (3, 3)
    assert np.array_equal(both.read(), np.concatenate([first, second]).T)
    with pytest.raises(InteropError, match="rows of the same size"):
        stacked(of_array(first), of_array(np.ones((1, 2), np.float32)))


def test_a_path_that_is_no_known_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    for path, message in ((tmp_path, "not a model of a known format"), (tmp_path / "none", "no such file")):
        with pytest.raises(InteropError, match=message):
            read_foreign(path)
