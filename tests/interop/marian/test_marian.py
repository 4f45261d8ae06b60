"""Marian models in and out: the same bits, the same network, and refusals by name."""

import copy
import json
import random
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ctranslate2.converters import MarianConverter  # type: ignore[import-untyped]

from pocketmt.errors import InteropError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.formats import FORMATS, read_foreign
from pocketmt.interop.marian.npz_file import read_npz
from pocketmt.model_file import TransformerArchitecture
from pocketmt.text.stored_vocabulary import StoredVocabularies, StoredVocabulary
from tests.interop.models import marian_architecture, marian_vocabularies, random_model, same
from tests.interop.toy_text import pieces_of

VARIANTS: dict[str, dict[str, Any]] = {
    "self-attention": {},
    "student": {"decoder_autoregression": "ssru", "tied_decoder_layers": True},
    "swish": {"activation": "swish", "output_bias": False},
    "gelu": {"activation": "gelu"},
    "gelu of 1.12.0": {"activation": "gelu_sigmoid"},
    "pre-norm": {"norm": "pre", "embedding_norm": True},
    "pre-norm, SSRU": {"norm": "pre", "decoder_autoregression": "ssru"},
    "uneven": {"encoder_feed_forward": (24, 24), "decoder_feed_forward": (12, 12, 12)},
    "sources tied": {"output_projection": "untied"},
    "two vocabularies": {"separate": True},
    "two vocabularies, untied": {"separate": True, "output_projection": "untied"},
}


def model_of(separate: bool = False, **changes: Any) -> ForeignModel:
    vocabularies = marian_vocabularies(separate)
    return random_model(marian_architecture(vocabularies, **changes), vocabularies)


def write(model: ForeignModel, folder: Path) -> Path:
    write_folder(model, FORMATS["marian"], folder)
    return folder


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_model_comes_back_bit_for_bit(tmp_path: Path, variant: str) -> None:
    model = model_of(**VARIANTS[variant])
    first = read_foreign(write(model, tmp_path / "first"))
    assert same(model, first)
    write(first, tmp_path / "second")
    for file in (tmp_path / "first").iterdir():
        if file.suffix != ".npz":
            assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()
    assert same(first, read_foreign(tmp_path / "second" / "model.npz"))


def test_the_norm_before_an_ssru_has_the_name_that_marian_reads(tmp_path: Path) -> None:
    folder = write(model_of(norm="pre", decoder_autoregression="ssru"), tmp_path / "model")
    with np.load(folder / "model.npz") as file:
        names = [name for name in file.files if name.startswith("decoder_l1_rnn") and "_ln_" in name]
    assert sorted(names) == ["decoder_l1_rnn_ln_bias_pre", "decoder_l1_rnn_ln_scale_pre"]


def change(folder: Path, tensors: dict[str, Any], **keys: Any) -> None:
    """Change tensors (None: removed) and keys of the configuration."""
    path = folder / "model.npz"
    with np.load(path) as file:
        held = {name: file[name] for name in file.files}
    text = held.pop("special:model.yml").tobytes().rstrip(b"\0").decode()
    values = dict(line.split(": ", 1) for line in text.splitlines())
    values |= {key.replace("_", "-"): json.dumps(value) for key, value in keys.items()}
    content = "".join(f"{key}: {value}\n" for key, value in values.items()).encode() + b"\0"
    held["special:model.yml"] = np.frombuffer(content, np.int8)
    held |= tensors
    np.savez(path, **{name: array for name, array in held.items() if array is not None})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"type": "s2s"}, "type is 's2s'"),
        ({"transformer_ffn_depth": 3}, "transformer-ffn-depth is 3"),
        ({"transformer_no_projection": True}, "transformer-no-projection is True"),
        ({"transformer_train_position_embeddings": True}, "transformer-train-position-embeddings is True"),
        ({"transformer_ffn_activation": "selu"}, "transformer-ffn-activation is 'selu'"),
        ({"transformer_decoder_autoreg": "rnn", "dec_cell": "gru"}, "dec-cell is 'gru'"),
        ({"transformer_preprocess": "n"}, "normalization after each layer, or before each layer"),
        ({"right_left": True}, "right-left is True"),
        ({"lemma_dim_emb": 64}, "lemma-dim-emb is 64"),
        ({"ulr": True}, "ulr is True"),
        ({"transformer_new_option": "on"}, "transformer-new-option is 'on'"),
        ({"dim_emb": -16}, "dim-emb is -16"),
        ({"dim_emb": 1 << 40}, "model_dimension"),
        ({"enc_depth": 10**9}, "enc-depth is 1000000000, .* from 1 to 256"),
        ({"dec_depth": 10**11}, "dec-depth is 100000000000, .* from 1 to 256"),
        ({"transformer_heads": 5}, "attention_dimension is 16"),
        ({"dim_vocabs": [5, 5]}, "dim-vocabs is"),
        ({"transformer_tied_layers": [2, 1, 1]}, "has the tensor 'decoder_l3_"),
        ({"transformer_tied_layers": [1, 1, 4]}, "has no tensor decoder_l4_"),
        ({"transformer_tied_layers": [1, 1, 257]}, "names of layers from 1 to 256"),
        ({"transformer_tied_layers": [1]}, "a list of 3 layers"),
        ({"transformer_tied_layers": [0, 0, 0]}, "names of layers from 1 to 256"),
        ({"transformer_decoder_autoreg": "rnn", "dec_cell": "ssru", "skip": True}, "skip is True"),
        ({"input_types": ["sequence", "alignments"]}, "input-types is"),
        ({"transformer_tied_layers": [1, 1, 1]}, "has the tensor 'decoder_l2_"),
    ],
)
def test_configurations_of_other_networks_are_refused(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    folder = write(model_of(), tmp_path / "model")
    change(folder, {}, **keys)
    with pytest.raises(InteropError, match=message):
        read_foreign(folder)


@pytest.mark.parametrize(
    ("version", "activation"),
    [
        ("v1.9.0 ba94c5b9 2020-05-17 10:42:17 +0100", "gelu_sigmoid"),
        ("v1.12.0 65bf82ff 2023-02-21 09:56:29 -0800", "gelu_sigmoid"),
        ("v1.12.1", "gelu"),
        ("v1.13.0", "gelu"),
        (None, "gelu_sigmoid"),
    ],
)
def test_gelu_is_that_of_the_version_that_wrote_the_model(tmp_path: Path, version: str | None, activation: str) -> None:
    average: dict[str, Any] = {"decoder_autoregression": "average_attention", "average_attention_dimension": 24}
    folder = write(model_of(activation="gelu", average_attention_activation="gelu", **average), tmp_path / "model")
    change(folder, {}, version=version)
    found = read_foreign(folder)
    assert isinstance(found.architecture, TransformerArchitecture)
    assert found.architecture.activation == found.architecture.average_attention_activation == activation
    assert any("names no version of Marian" in note for note in found.notes) == (version is None)


def test_tied_layers_of_any_pattern_are_written_one_by_one(tmp_path: Path) -> None:
    model = model_of()
    folder = write(model, tmp_path / "model")
    with np.load(folder / "model.npz") as file:
        second = [name for name in file.files if name.startswith("decoder_l2_")]
    change(folder, dict.fromkeys(second), transformer_tied_layers=[1, 1, 3])
    found = read_foreign(folder)
    assert "tied in the pattern [1, 1, 3]" in found.notes[0]
    for name, tensor in found.tensors.items():
        copied = name.replace("decoder.layers.1.", "decoder.layers.0.")
        assert np.array_equal(tensor.read(), model.tensors[copied].read())


def test_tied_layers_share_names_that_need_not_be_their_numbers(tmp_path: Path) -> None:
    model = model_of(decoder_layers=4)
    folder = write(model, tmp_path / "model")
    with np.load(folder / "model.npz") as file:
        others = [name for name in file.files if name.startswith(("decoder_l3_", "decoder_l4_"))]
    change(folder, dict.fromkeys(others), transformer_tied_layers=[1, 1, 2, 2])
    found = read_foreign(folder)
    for name, tensor in found.tensors.items():
        shared = re.sub(r"decoder\.layers\.(\d)", lambda layer: f"decoder.layers.{int(layer[1]) // 2}", name)
        assert np.array_equal(tensor.read(), model.tensors[shared].read())


@pytest.mark.parametrize(
    "keys", [{"skip": True}, {"layer_normalization": True}, {"input_types": ["sequence", "sequence"]}]
)
def test_settings_that_change_nothing_are_read(tmp_path: Path, keys: dict[str, Any]) -> None:
    model = model_of()
    folder = write(model, tmp_path / "model")
    change(folder, {}, **keys)
    assert same(model, read_foreign(folder))


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"encoder_l1_ffn_W1": None}, "no tensor encoder_l1_ffn_W1"),
        ({"encoder_l1_ffn_W1": np.zeros((24, 16), np.float32)}, r"encoder_l1_ffn_W1 is \[24, 16\]"),
        ({"encoder_l1_ffn_W1": np.zeros((16, 24), np.float64)}, "has type float64"),
        ({"encoder_l1_ffn_W1": np.array([[object()]])}, "has type object"),
        ({"Wpos": np.zeros((4, 16), np.float32)}, "has the tensor 'Wpos'"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(tmp_path: Path, tensors: dict[str, Any], message: str) -> None:
    folder = write(model_of(), tmp_path / "model")
    change(folder, tensors)
    with pytest.raises(InteropError, match=message):
        read_foreign(folder)


@pytest.mark.parametrize("header", [b"{'descr': '<f4', 'shape': (2, ", b"{'descr': 1L, ", b"("])
def test_damaged_headers_are_refused(tmp_path: Path, header: bytes) -> None:
    folder = write(model_of(), tmp_path / "model")
    with zipfile.ZipFile(folder / "model.npz", "a") as archive:
        archive.writestr("other.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InteropError, match="'other' is not of NumPy's format"):
        read_foreign(folder)


@pytest.mark.parametrize("two", [False, True])
def test_tables_of_ids_are_found_without_a_file_that_names_them(tmp_path: Path, two: bool) -> None:
    sides = []
    for side in marian_vocabularies(separate=two).sides:
        pieces = pieces_of(side.model)
        sides.append(
            StoredVocabulary(side.model, (*pieces[:2], *random.Random(1).sample(pieces[2:], len(pieces) - 2)), "none")
        )
    vocabularies = StoredVocabularies(*sides)
    model = random_model(marian_architecture(vocabularies), vocabularies)
    folder = write(model, tmp_path / "model")
    (folder / "decoder.yml").unlink()
    assert same(model, read_foreign(folder))
    (folder / "other.vocab.yml").write_text("</s>: 0")
    with pytest.raises(InteropError, match=r"other\.vocab\.yml.*: add a decoder\.yml whose `vocabs` names those"):
        read_foreign(folder)


def test_ctranslate2_converts_what_is_written(tmp_path: Path) -> None:
    stored = marian_vocabularies().source
    vocabularies = StoredVocabularies(StoredVocabulary(stored.model, tuple(pieces_of(stored.model)), "none"))
    model = random_model(marian_architecture(vocabularies), vocabularies)
    folder = write(model, tmp_path / "model")
    MarianConverter(str(folder / "model.npz"), [str(folder / "vocab.yml")] * 2).convert(str(tmp_path / "converted"))
    (tmp_path / "converted" / "sentencepiece.model").write_bytes(stored.model)
    found = read_foreign(tmp_path / "converted")
    assert all(np.array_equal(tensor.read(), model.tensors[name].read()) for name, tensor in found.tensors.items())


def test_notes_say_the_settings_of_the_search(tmp_path: Path) -> None:
    folder = write(model_of(), tmp_path / "model")
    assert read_foreign(folder).notes == ()
    path = folder / "decoder.yml"
    named = "models: [model.npz]\nvocabs: [vocab.spm, vocab.spm]\n"
    path.write_text(named + "beam-size: 6\nnormalize: 0.6\nword-penalty: 0.7\nallow-unk: true\nallow-special: true\n")
    starts = ("beam-size is 6", "normalize is 0.6", "word-penalty is 0.7", "allow-unk is true", "allow-special is true")
    found = read_foreign(folder).notes
    assert [note[: len(start)] for note, start in zip(found, starts, strict=True)] == [*starts]
    path.write_text(named + "shortlist:\n  - lex.s2t\n  - 50\n  - 50\n")
    beam, penalty, shortlist = read_foreign(folder).notes
    assert beam == "beam-size is not given, so 12: give --beam-size 12 to `pocketmt translate`"
    assert penalty.startswith("normalize is not given, so 0,") and penalty.endswith("length_penalty=0")
    assert shortlist.startswith("the shortlist lex.s2t is left out")
    path.write_text(named + "beam-size: 257\nnormalize: 10.5\nword-penalty: 2000\n")
    beam, penalty, words = read_foreign(folder).notes
    assert beam == "beam-size is 257: give --beam-size 256, the limit, to `pocketmt translate`"
    assert penalty.startswith("normalize is 10.5,") and penalty.endswith("length_penalty=10, the limit")
    assert words.startswith("word-penalty is 2000")
    for setting in ("beam-size: 0", "beam-size: 1.5", "normalize: much", "word-penalty: [1]"):
        path.write_text(f"{named}{setting}\n")
        with pytest.raises(InteropError, match=f"{setting.partition(':')[0]} of the model's settings is "):
            read_foreign(folder)
    path.unlink()
    assert read_foreign(folder).notes == ()


def test_names_of_files_that_are_too_long_are_refused(tmp_path: Path) -> None:
    folder = write(model_of(), tmp_path / "model")
    (folder / "decoder.yml").write_text(f"vocabs: [{'a' * 5000}]")
    with pytest.raises(InteropError, match="no such file 'aaa"):
        read_foreign(folder)


def test_compressed_files_and_columns_first_are_read(tmp_path: Path) -> None:
    model = model_of()
    folder = write(model, tmp_path / "model")
    with np.load(folder / "model.npz") as file:
        held: dict[str, Any] = {name: np.asfortranarray(file[name]) for name in file.files}
    np.savez_compressed(folder / "model.npz", **held)
    assert same(model, read_foreign(folder))


def test_a_file_that_would_expand_is_refused(tmp_path: Path) -> None:
    folder = write(model_of(), tmp_path / "model")
    np.savez_compressed(folder / "model.npz", zeros=np.zeros((64, 1 << 20), np.float32))
    with pytest.raises(InteropError, match="far more than the file has"):
        read_foreign(folder)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_numbers_are_refused(tmp_path: Path, save: Any) -> None:
    folder = write(model_of(model_dimension=256, attention_dimension=256), tmp_path / "model")
    path = folder / "model.npz"
    with np.load(path) as file:
        held = {name: file[name] for name in file.files}
    save(path, **held)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("Wemb.npy").header_offset + (1 << 15)
    content[start : start + 4] = bytes(255 - byte for byte in content[start : start + 4])
    path.write_bytes(content)
    with np.load(path) as file, pytest.raises((zipfile.BadZipFile, zlib.error)):
        file["Wemb"]
    with pytest.raises(InteropError, match=r"'Wemb\.npy' is damaged"):
        for tensor in read_foreign(folder).tensors.values():
            tensor.read()


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    path = write(model_of(), tmp_path / "model") / "model.npz"
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(200):
            again = copy.copy(archive.getinfo("Wemb.npy"))
            again.filename = f"again{number}.npy"
            archive.filelist.append(again)
        archive.writestr("last", b"")
    with pytest.raises(InteropError, match="its members overlap"):
        read_foreign(path.parent)


def test_the_list_of_members_is_read_no_more_often_for_more_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    original = zipfile.ZipFile.__init__

    def counted(self: zipfile.ZipFile, *arguments: Any, **options: Any) -> None:
        opened[-1] += 1
        original(self, *arguments, **options)

    for tensors in (2, 20):
        path = tmp_path / f"{tensors}.npz"
        named: dict[str, Any] = {f"t{index}": np.ones((1, 4), np.float32) for index in range(tensors)}
        named["special:model.yml"] = np.frombuffer(b"a: 1\0", np.int8)
        np.savez(path, **named)
        opened.append(0)
        with monkeypatch.context() as patched:
            patched.setattr(zipfile.ZipFile, "__init__", counted)
            assert len(read_npz(path)[0]) == tensors
    assert opened[0] == opened[1] > 0


def test_another_vocabulary_is_refused(tmp_path: Path) -> None:
    folder = write(model_of(), tmp_path / "model")
    (folder / "vocab.spm").write_bytes(marian_vocabularies(separate=True).source.model)
    with pytest.raises(InteropError, match="they are of another model"):
        read_foreign(folder)
    (folder / "vocab.spm").write_bytes(b"no model")
    with pytest.raises(InteropError, match="not a SentencePiece model"):
        read_foreign(folder)
    (folder / "vocab.spm").unlink()
    with pytest.raises(InteropError, match="no such file"):
        read_foreign(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first_decoder_input": "eos"}, "first_decoder_input is 'eos'"),
        ({"normalization_epsilon": 1e-5}, "normalization_epsilon is 1e-05"),
        ({"positions": "interleaved"}, "positions is 'interleaved'"),
        ({"activation": "gelu_tanh"}, "activation is 'gelu_tanh'"),
        (
            {
                "activation": "gelu_sigmoid",
                "decoder_autoregression": "average_attention",
                "average_attention_activation": "gelu",
            },
            "average_attention_activation is 'gelu'",
        ),
    ],
)
def test_what_marian_lacks_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InteropError, match=message):
        write(model_of(**changes), tmp_path / "model")
    assert not list(tmp_path.iterdir())
