"""A foreign model becomes a model file tensor by tensor, and what does not fit is refused with nothing written."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketmt.errors import ConfigurationError, InteropError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import Float32, ForeignTensor, of_array, stacked, transposed
from pocketmt.interop.format import Format
from pocketmt.interop.formats import FORMATS, read_foreign
from pocketmt.interop.importing import import_model, write_foreign
from pocketmt.interop.left_out import Part, notes_of_left_out
from pocketmt.model_file import TransformerArchitecture, open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.text.stored_vocabulary import StoredVocabularies
from pocketmt.text.vocabulary_training import train_vocabulary
from tests.interop.bergamot.students import random_student
from tests.interop.hugging_face.folders import write_nllb
from tests.interop.mutations import write_bergamot, write_ctranslate2, write_npz, write_pickle, write_safetensors


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


def test_a_folder_is_said_to_exist_whatever_it_is(model: ForeignModel, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(ConfigurationError, match="link exists already"):
        write_folder(model, FORMATS["ctranslate2"], tmp_path / "link")
    folder = tmp_path / ("a" * 250)
    write_folder(model, FORMATS["ctranslate2"], folder)
    assert sorted(tmp_path.iterdir()) == sorted([folder, tmp_path / "link"])


def test_an_error_of_the_system_names_the_folder(model: ForeignModel, tmp_path: Path) -> None:
    def write(model: ForeignModel, folder: Path) -> tuple[str, ...]:
        (folder / "missing" / "file").write_text("")
        return ()

    with pytest.raises(FileNotFoundError) as caught:
        write_folder(model, Format("toy", "Toy", write=write), tmp_path / "written")
    assert caught.value.filename == str(tmp_path / "written")
    assert not list(tmp_path.iterdir())


def test_what_a_format_does_not_hold_is_said(model: ForeignModel) -> None:
    lists = Shortlist(range(4), [[9]] * model.architecture.vocabulary_size, listed_sides(model.architecture))
    full = replace(model, shortlist=lists, activation_scales={"embedding.weight": 1.0})
    assert notes_of_left_out(replace(model, metadata=ModelMetadata()), held=()) == ()
    held: tuple[Part, ...] = ("scales of activations",)
    (note,) = notes_of_left_out(full, held)
    assert note.endswith(": shortlist, languages, licence")
    assert "banned_ids" in notes_of_left_out(model, held=("languages", "licence"), generated=(5,))[0]


@pytest.mark.parametrize("name", ["marian", "bergamot"])
def test_writers_say_what_is_left_out(tmp_path: Path, name: str) -> None:
    plain = random_student(1)
    metadata = replace(plain.metadata, licence="CC-BY-4.0", description="small")
    model = replace(plain, metadata=metadata, architecture=replace(plain.architecture, banned_ids=(9,)))
    notes = " ".join(write_folder(model, FORMATS[name], tmp_path / "folder"))
    assert "licence, description" in notes and "(banned_ids)" in notes
    assert ("languages" in notes) == (name == "marian")


@pytest.mark.parametrize("name", ["model.npz", "vocab.spm", "link.pocketmt"])
@pytest.mark.parametrize("source", [".", "model.npz"])
def test_files_of_the_source_are_not_replaced(tmp_path: Path, source: str, name: str) -> None:
    folder = tmp_path / "model"
    write_npz(folder)
    (folder / "link.pocketmt").symlink_to(folder / "model.npz")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ConfigurationError, match="is read, and would be replaced"):
        import_model(folder / source, folder / name)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    for _ in range(2):
        import_model(folder / source, folder / "new.pocketmt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"target_language": "fr"},
            "the target language is 'fr', which the model does not have; it has eng_Latn, deu_",
        ),
        (
            {"source_language": "eng_Cyrl"},
            "the source language is 'eng_Cyrl', which the model does not have; it has eng_Latn, deu_",
        ),
        ({"source_language": "eng Latn"}, "the source language is 'eng Latn', which the model does not have"),
        ({"target_language": "deu\n"}, r"the target language is 'deu\\n', which the model does not have"),
    ],
)
def test_languages_that_a_model_does_not_have_are_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    write_nllb(tmp_path / "folder")
    with pytest.raises(ConfigurationError, match=message):
        import_model(tmp_path / "folder", tmp_path / "model.pocketmt", **options)
    assert not (tmp_path / "model.pocketmt").exists()


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_npz, "model.npz"),
        (write_npz, "vocab.spm"),
        (write_bergamot, "model.bin"),
        (write_ctranslate2, "model.bin"),
        (write_safetensors, "model.safetensors"),
        (write_safetensors, "config.json"),
        (write_pickle, "pytorch_model.bin"),
    ],
)
def test_pointers_of_git_lfs_are_named(tmp_path: Path, write: Callable[[Path], None], name: str) -> None:
    write(tmp_path / "model")
    (tmp_path / "model" / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    with pytest.raises(InteropError, match=f"{name}: is a Git LFS pointer, .*: run `git lfs pull`"):
        read_foreign(tmp_path / "model")


def test_a_path_that_is_no_known_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    for path, message in ((tmp_path, "not a model of a known format"), (tmp_path / "none", "no such file")):
        with pytest.raises(InteropError, match=message):
            read_foreign(path)


def test_a_part_of_a_model_is_said_to_be_one(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_npz(folder)
    with pytest.raises(InteropError, match=r"vocab\.spm: not .*: name its folder, a model of Marian"):
        read_foreign(folder / "vocab.spm")
    (folder / "model.npz").rename(folder / "model.npz.gz")
    for path in (folder, folder / "model.npz.gz"):
        with pytest.raises(InteropError, match=r"not a model of a known format: unpack model\.npz\.gz first"):
            read_foreign(path)


def test_an_error_about_the_weights_names_the_model(model: ForeignModel, tmp_path: Path) -> None:
    bias = "encoder.layers.0.feed_forward.inner.bias"
    infinite = {**model.tensors, bias: of_array(np.full(16, np.inf, np.float32))}
    write_npz(tmp_path / "folder")
    message = f"^{tmp_path / 'folder'}: the tensor for {bias} holds a value that is not finite"
    with pytest.raises(InteropError, match=message):
        import_model(tmp_path / "folder", tmp_path / "out.pocketmt", change=lambda _: replace(model, tensors=infinite))


def test_a_model_of_several_languages_takes_any_of_their_codes(tmp_path: Path) -> None:
    write_nllb(tmp_path / "folder")
    imported = import_model(
        tmp_path / "folder", tmp_path / "model.pocketmt", source_language="en", target_language="deu"
    )
    assert (imported.metadata.source_language, imported.metadata.target_language) == ("eng_Latn", "deu_Latn")
    with open_model(tmp_path / "model.pocketmt") as file:
        assert (file.source_language, file.target_language) == ("eng_Latn", "deu_Latn")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("english", "'english' is not the code of a language: write 'en'"),
        ("en\n", "is not the code of a language"),
        ("e n", "is not the code of a language"),
    ],
)
@pytest.mark.parametrize("side", ["source", "target"])
def test_what_is_no_code_is_refused(tmp_path: Path, side: str, code: str, message: str) -> None:
    write_npz(tmp_path / "folder")
    options: dict[str, Any] = {f"{side}_language": code}
    with pytest.raises(ConfigurationError, match=message):
        import_model(tmp_path / "folder", tmp_path / "model.pocketmt", **options)
    assert not (tmp_path / "model.pocketmt").exists()
