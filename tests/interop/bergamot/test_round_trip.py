"""A model of bergamot becomes a model file and bergamot's again, bit for bit, and computes with the same codes."""

import json
import re
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch

from pocketmt.errors import InteropError
from pocketmt.interop.bergamot.container import float_item, read_container, settings_item, write_container
from pocketmt.interop.bergamot.reading import read_model
from pocketmt.interop.bergamot.writing import write_model
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import CodesTensor
from pocketmt.interop.formats import FORMATS, recognize
from pocketmt.interop.importing import import_model
from pocketmt.interop.marian.description import MarianNetwork
from pocketmt.interop.marian.names import place
from pocketmt.interop.marian.settings import MODEL_YML
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.packing.contents import FLOAT32, ModelContents
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.model_file import pack
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import scheme_from_options
from pocketmt.quantization.activations.static import CalibratedActivations
from pocketmt.text.stored_vocabulary import StoredVocabularies
from tests.engine.reference import reference_logits
from tests.interop.bergamot.conftest import loaded
from tests.interop.bergamot.saturating import Student
from tests.interop.bergamot.students import LINES, PIECES, random_student, vocabulary

LIST = Shortlist(range(8), [[piece] if piece >= 8 else [9, 11] for piece in range(PIECES)])


def exported(path: Path, folder: Path) -> dict[str, bytes]:
    """The files that a model file becomes."""
    folder.mkdir()
    with open_model(path) as file:
        write_model(foreign_model_of(file), folder)
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_files_are_the_same_after_an_import(student: ForeignModel, tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    write_model(replace(student, shortlist=LIST), first)
    format = recognize(first)
    assert format is not None and format.name == "bergamot"
    import_model(first, tmp_path / "model.pocketmt")
    second = exported(tmp_path / "model.pocketmt", tmp_path / "second")
    assert second == {each.name: each.read_bytes() for each in first.iterdir()}
    import_model(tmp_path / "second", tmp_path / "again.pocketmt")
    assert (tmp_path / "again.pocketmt").read_bytes() == (tmp_path / "model.pocketmt").read_bytes()


def test_scales_of_some_matrices_are_left_out(student: ForeignModel, tmp_path: Path) -> None:
    weights = {name: torch.from_numpy(tensor.read().copy()) for name, tensor in student.tensors.items()}
    assert student.activation_scales is not None
    scales = {name: torch.tensor([scale]) for name, scale in student.activation_scales.items()}
    contents = ModelContents(
        weights,
        student.architecture,
        student.vocabularies,
        {"encoder.*": scheme_from_options("uniform"), "*": FLOAT32},
        student.metadata,
        activation_quantization=CalibratedActivations(scales),
    )
    path, folder = tmp_path / "model.pocketmt", tmp_path / "folder"
    pack(path, contents)
    with open_model(path) as file:
        notes = write_folder(foreign_model_of(file), FORMATS["bergamot"], folder)
    assert "the calibrated scales of activations are left out, because some matrices have none" in notes
    assert "gemm-precision: int8shiftAll\n" in (folder / "config.yml").read_text()
    assert read_model(folder).activation_scales is None


def test_codes_of_the_model_file_are_those_of_the_items(folder: Path, read: ForeignModel, tmp_path: Path) -> None:
    import_model(folder, tmp_path / "model.pocketmt")
    items = read_container(folder / "model.bin")
    assert isinstance(read.architecture, TransformerArchitecture)
    with open_model(tmp_path / "model.pocketmt") as file:
        for name in read.tensors:
            names = place(name, MarianNetwork(read.architecture, (1, 2)))
            if isinstance(read.tensors[name], CodesTensor):
                for index, each in enumerate(names.names):
                    item = items[each]
                    assert bytes(file.data(f"{name}.{index}.codes")) == item.codes().tobytes()
                    scale = np.frombuffer(file.data(f"{name}.{index}.scale"), np.float32)
                    assert scale == np.float32(1) / np.float32(item.multiplier())


def test_the_reference_of_the_model_file_computes_with_the_same_codes(
    folder: Path, read: ForeignModel, processor: sentencepiece.SentencePieceProcessor, tmp_path: Path
) -> None:
    import_model(folder, tmp_path / "model.pocketmt")
    network = load_reference(tmp_path / "model.pocketmt")
    codes = Student(read)
    for line in LINES:
        source = processor.encode(line)
        found = codes.greedy(source, 8)
        logits = torch.from_numpy(reference_logits(network, source, found))[: len(found)]
        logits[:, read.architecture.unk_id] = -torch.inf
        assert logits.argmax(dim=1).tolist() == found


def test_a_model_in_full_precision_is_read(student: ForeignModel, folder: Path, tmp_path: Path) -> None:
    assert isinstance(student.architecture, TransformerArchitecture)
    items = []
    for name in student.tensors:
        names = place(name, MarianNetwork(student.architecture, (1, 2)))
        for each, part in zip(names.names, np.split(student.tensors[name].read(), len(names.names)), strict=True):
            items.append(float_item(each, part.T if names.form == "matrix" else part))
    items.append(settings_item(bytes(read_container(folder / "model.bin")[MODEL_YML].data)))
    with (tmp_path / "model.bin").open("wb") as file:
        write_container(file, items)
    (tmp_path / "vocab.spm").write_bytes(student.vocabularies.source.model)
    model = read_model(tmp_path)
    assert model.activation_scales is None
    for name, tensor in student.tensors.items():
        assert np.array_equal(model.tensors[name].read(), tensor.read())


def test_two_vocabularies_and_a_decoder_of_self_attention(tmp_path: Path) -> None:
    changes = {"embeddings": "separate", "vocabularies": "separate", "decoder_autoregression": "self_attention"}
    plain = random_student(5, **changes, source_eos_id=2, source_unk_id=0)
    sides = replace(plain.vocabularies.source, model=vocabulary(eos_id=2, unk_id=0)), plain.vocabularies.source
    model = replace(plain, vocabularies=plain.vocabularies._replace(source=sides[0], target=sides[1]))
    scales = {name: 0.03125 for name, tensor in model.tensors.items() if len(tensor.shape) == 2}
    scales.pop("source_embedding.weight")
    first = tmp_path / "first"
    first.mkdir()
    write_model(replace(model, activation_scales=scales), first)
    assert {each.name for each in first.glob("*.spm")} == {"srcvocab.spm", "trgvocab.spm"}
    import_model(first, tmp_path / "model.pocketmt")
    with open_model(tmp_path / "model.pocketmt") as file:
        assert file.architecture == model.architecture
        assert file.stored_vocabularies() == model.vocabularies
    assert exported(tmp_path / "model.pocketmt", tmp_path / "second") == {
        each.name: each.read_bytes() for each in first.iterdir()
    }
    load_reference(tmp_path / "model.pocketmt")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("lex.bin", b"", "lex.bin: has 0 bytes"),
        ("lex.bin", bytes(100), "lex.bin: is no binary shortlist"),
        ("lex.bin", b"version https://git-lfs.github.com/spec/v1\n", "lex.bin: is a Git LFS pointer"),
        ("lex.bin", None, "no such file 'lex.bin', which shortlist of the model's settings names"),
        ("vocab.spm", None, "no such file 'vocab.spm', which vocabs of the model's settings names"),
    ],
)
@pytest.mark.parametrize("described", [True, False])
def test_files_that_are_named_are_not_left_out(
    student: ForeignModel, tmp_path: Path, name: str, content: bytes | None, message: str, described: bool
) -> None:
    write_model(replace(student, shortlist=LIST), tmp_path)
    (tmp_path / "other.spm").write_bytes((tmp_path / "vocab.spm").read_bytes())
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    if not described:
        (tmp_path / "config.yml").unlink()
        (tmp_path / "other.spm").unlink()
        message = message if content is not None else "found none" if name == "vocab.spm" else ""
    if message:
        with pytest.raises(InteropError, match=message):
            read_model(tmp_path)
    else:
        assert read_model(tmp_path).shortlist is None


def test_bergamot_may_end_every_translation(tmp_path: Path) -> None:
    sides = {"embeddings": "separate", "vocabularies": "separate", "source_eos_id": 0, "source_unk_id": 1}
    plain = random_student(1, eos_id=2, unk_id=0, **sides)
    eos, source = plain.architecture.eos_id, plain.vocabularies.source
    target = replace(source, model=vocabulary(eos_id=2, unk_id=0))
    shortlist = Shortlist(range(4, 12), [[] for _ in range(PIECES)], listed_sides(plain.architecture))
    write_model(replace(plain, vocabularies=StoredVocabularies(source, target), shortlist=shortlist), tmp_path)
    content = (tmp_path / "lex.bin").read_bytes()
    _, _, first, _, offsets, count = struct.unpack_from("<6Q", content)
    places = struct.unpack_from(f"<{offsets}Q", content, 48)
    listed = struct.unpack_from(f"<{count}I", content, 48 + 8 * offsets)
    assert offsets == PIECES + 1
    for start, stop in pairwise(places):
        assert eos < first or eos in listed[start:stop]


def test_a_shortlist_without_frequent_pieces_is_read(student: ForeignModel, tmp_path: Path) -> None:
    write_model(replace(student, shortlist=LIST), tmp_path)
    path = tmp_path / "lex.bin"
    content = bytearray(path.read_bytes())
    struct.pack_into("<Q", content, 16, 0)
    path.write_bytes(content)
    found = read_model(tmp_path).shortlist
    assert found is not None and list(found.frequent) == [student.architecture.eos_id]
    assert [list(ids) for ids in found.targets[8:]] == [list(ids) for ids in LIST.targets[8:]]
    struct.pack_into("<Q", content, 16, PIECES + 1)
    path.write_bytes(content)
    with pytest.raises(InteropError, match="names pieces that the vocabulary, of 200, does not have"):
        read_model(tmp_path)


@pytest.mark.parametrize("change", ["", "shortlist: false\n"])
def test_a_shortlist_that_the_settings_do_not_name_is_not_used(
    student: ForeignModel, tmp_path: Path, change: str
) -> None:
    write_model(replace(student, shortlist=LIST), tmp_path)
    assert read_model(tmp_path).shortlist == LIST
    path = tmp_path / "config.yml"
    text = path.read_text()
    path.write_text(text.replace("shortlist:\n  - lex.bin\n  - false\n", change))
    assert path.read_text() != text
    assert read_model(tmp_path).shortlist is None
    path.unlink()
    assert read_model(tmp_path).shortlist == LIST
    (tmp_path / "lex.bin").rename(tmp_path / "lex.bin.old")
    assert read_model(tmp_path).shortlist is None


def test_the_model_is_that_of_the_settings(student: ForeignModel, tmp_path: Path) -> None:
    write_model(student, tmp_path)
    (tmp_path / "other.bin").write_bytes((tmp_path / "model.bin").read_bytes())
    assert read_model(tmp_path).metadata == student.metadata
    path = tmp_path / "config.yml"
    path.write_text(path.read_text().replace("- model.bin", "- third.bin"))
    with pytest.raises(InteropError, match=r"no such file 'third\.bin', which models of the model's settings names"):
        read_model(tmp_path)
    path.unlink()
    with pytest.raises(InteropError, match=r"has several models, model\.bin, other\.bin"):
        read_model(tmp_path)


def test_files_of_the_system_are_not_read(student: ForeignModel, tmp_path: Path) -> None:
    write_model(student, tmp_path)
    (tmp_path / "config.yml").unlink()
    for name in ("model.bin", "vocab.spm"):
        (tmp_path / f"._{name}").write_bytes((tmp_path / name).read_bytes())
    assert read_model(tmp_path).vocabularies == student.vocabularies


@pytest.mark.parametrize(("codes", "found"), [(("en", "zh_Hant"), ("en", "zh_Hant")), (("english", 5), ("", ""))])
def test_languages_of_the_metadata_are_codes(
    student: ForeignModel, tmp_path: Path, codes: tuple[object, object], found: tuple[str, str]
) -> None:
    write_model(student, tmp_path)
    (tmp_path / "metadata.json").write_text(json.dumps({"sourceLanguage": codes[0], "targetLanguage": codes[1]}))
    metadata = read_model(tmp_path).metadata
    assert (metadata.source_language, metadata.target_language) == found


def test_an_output_matrix_of_codes_that_is_not_tied_is_refused(student: ForeignModel, tmp_path: Path) -> None:
    write_model(student, tmp_path)
    items = {
        name: replace(item, data=bytes(item.data)) for name, item in read_container(tmp_path / "model.bin").items()
    }
    text = bytes(items.pop(MODEL_YML).data).decode()
    text = text.replace("tied-embeddings-all: true", "tied-embeddings-all: false")
    text = text.replace("tied-embeddings-src: false", "tied-embeddings-src: true")
    items["decoder_ff_logit_out_Wt"] = replace(items["Wemb"], name="decoder_ff_logit_out_Wt")
    with (tmp_path / "model.bin").open("wb") as file:
        write_container(file, [*items.values(), settings_item(text.encode())])
    with pytest.raises(InteropError, match=r"model\.bin: its output matrix has 8 bits and is not tied"):
        read_model(tmp_path)


@pytest.mark.parametrize(
    ("precision", "scales", "noted"),
    [
        ("int8shiftAlphaAll", True, False),
        ("int8shiftAlpha", True, False),
        ("int8shiftAll", True, True),
        ("float32", True, True),
        ("int8shiftAll", False, False),
        ("int8shiftAlphaAll", False, True),
    ],
)
def test_another_precision_than_that_of_the_file_is_noted(
    student: ForeignModel, tmp_path: Path, precision: str, scales: bool, noted: bool
) -> None:
    write_model(student if scales else replace(student, activation_scales=None), tmp_path)
    path = tmp_path / "config.yml"
    path.write_text(re.sub("gemm-precision: .*", f"gemm-precision: {precision}", path.read_text()))
    assert any(note.startswith("gemm-precision is") for note in read_model(tmp_path).notes) == noted


def test_vocabularies_are_those_of_the_settings(student: ForeignModel, tmp_path: Path) -> None:
    write_model(student, tmp_path)
    (tmp_path / "other.spm").write_bytes(b"damaged")
    assert read_model(tmp_path).vocabularies == student.vocabularies


def test_a_note_says_the_beam_of_the_settings(student: ForeignModel, tmp_path: Path) -> None:
    write_model(student, tmp_path)
    beam = "beam-size is 1: give --beam-size 1 to `pocketmt translate`"
    assert beam in read_model(tmp_path).notes
    (tmp_path / "config.yml").unlink()
    assert beam not in read_model(tmp_path).notes


def test_what_bergamot_rounds_is_said(student: ForeignModel, tmp_path: Path) -> None:
    notes = " ".join(write_model(replace(student, activation_scales=None), tmp_path))
    assert "matrices are rounded to 8 bits" in notes and "int8shiftAll" in notes
    assert "int8shiftAll\n" in (tmp_path / "config.yml").read_text()


def changed_settings(folder: Path, **keys: str) -> None:
    """Change keys of the settings in a model, without the reader's checks."""
    items = read_container(folder / "model.bin")
    text = bytes(items.pop(MODEL_YML).data).decode()
    for key, value in keys.items():
        name = key.replace("_", "-")
        text, found = re.subn(f"(?m)^{name}: .*$", f"{name}: {value}", text)
        assert found == 1
    kept = [replace(item, data=bytes(item.data)) for item in items.values()]
    with (folder / "model.bin").open("wb") as file:
        write_container(file, [*kept, settings_item(text.encode())])


def test_pre_norm_is_refused_both_ways(student: ForeignModel, tmp_path: Path) -> None:
    with pytest.raises(InteropError, match=r"norm is 'pre', where bergamot normalizes .* queries, but not"):
        write_model(random_student(1, norm="pre"), tmp_path)
    write_model(student, tmp_path)
    changed_settings(
        tmp_path, transformer_preprocess="n", transformer_postprocess="da", transformer_postprocess_top="n"
    )
    with pytest.raises(InteropError, match=r"norms before the layers, where bergamot normalizes .* queries, but not"):
        read_model(tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_special_pieces_are_those_of_the_vocabulary(seed: int, tmp_path: Path) -> None:
    ids = [{"eos_id": 2, "unk_id": 0}, {"eos_id": 1, "unk_id": 0}, {"eos_id": 0, "unk_id": 3}]
    plain = random_student(seed, **{"pad_id": None, "bos_id": None, **ids[seed]})
    model = replace(
        plain,
        vocabularies=plain.vocabularies._replace(
            source=replace(plain.vocabularies.source, model=vocabulary(**{"pad_id": -1, "bos_id": -1, **ids[seed]})),
        ),
    )
    write_model(model, tmp_path)
    assert read_model(tmp_path).architecture == plain.architecture
    assert loaded((tmp_path / "vocab.spm").read_bytes()).eos_id() == ids[seed]["eos_id"]
