"""The export to Marian, without Marian: its weights are ours under its names."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.peer.marian_weights import write_marian_model
from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.peer.sides import marian_side
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import Architecture
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.text.vocabulary import Vocabulary

SIZE = 320
PIECES = Vocabulary(made_up_vocabulary(SIZE)).pieces(range(SIZE))


def export(architecture: Architecture, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    torch.manual_seed(1)
    weights = {name: tensor.numpy() for name, tensor in make_network(architecture).state_dict().items()}
    write_marian_model(weights, architecture, PIECES, folder)
    with np.load(folder / "model.npz") as arrays:
        return weights, dict(arrays)


@pytest.mark.parametrize("name", ["tiny", "6-2.tiny"])
def test_every_weight_is_exported_once_and_options_have_the_sizes(tmp_path: Path, name: str) -> None:
    architecture = preset(name, SIZE)
    weights, tensors = export(architecture, tmp_path)
    options = json.loads(tensors.pop("special:model.yml").tobytes().removesuffix(b"\0"))
    assert options["dim-vocabs"] == [SIZE, SIZE]
    assert options["transformer-decoder-autoreg"] == {"tiny": "self-attention", "6-2.tiny": "rnn"}[name]
    bias = tensors.pop("decoder_ff_logit_out_b")
    assert np.array_equal(bias[0] < 0, np.arange(SIZE) < 4)  # no special piece is ever written
    ours = np.sort(np.concatenate([tensor.ravel() for tensor in weights.values()]))
    theirs = np.sort(np.concatenate([tensor.ravel() for tensor in tensors.values()]))
    if name == "tiny":  # which has no biases of attention: Marian has zeros there
        theirs = np.sort(np.concatenate([t.ravel() for n, t in tensors.items() if not is_attention_bias(n)]))
    assert np.array_equal(ours, theirs)


def is_attention_bias(name: str) -> bool:
    return any(f"_{layer}_b{letter}" in name for layer in ("self", "context") for letter in "qkvo")


def test_fused_products_are_split_and_matrices_transposed(tmp_path: Path) -> None:
    weights, tensors = export(preset("6-2.tiny", SIZE), tmp_path)
    fused = weights["encoder.layers.1.self_attention.query_key_value.weight"]
    for index, letter in enumerate("qkv"):
        part = fused[256 * index : 256 * (index + 1)]
        assert np.array_equal(tensors[f"encoder_l2_self_W{letter}"], part.T)
    memory = weights["decoder.layers.0.cross_attention.key_value.bias"]
    assert np.array_equal(tensors["decoder_l1_context_bv"], memory[None, 256:])
    assert tensors["encoder_l1_ffn_W1"].shape == (256, 1536)
    assert np.array_equal(tensors["decoder_l1_rnn_Wf"], weights["decoder.layers.0.ssru.input_forget.weight"][256:].T)


def test_the_vocabulary_names_every_piece_with_its_id(tmp_path: Path) -> None:
    export(preset("tiny", SIZE), tmp_path)
    lines = (tmp_path / "vocabulary.yml").read_text(encoding="utf-8").splitlines()
    assert lines[2] == '"</s>": 2'
    assert [json.loads("{" + line + "}") for line in lines] == [{piece: id} for id, piece in enumerate(PIECES)]


@pytest.mark.parametrize("architecture", [preset("tiny", SIZE, "pre"), preset("12-1.base", SIZE), preset("lstm", SIZE)])
def test_other_networks_are_refused(tmp_path: Path, architecture: Architecture) -> None:
    with pytest.raises(ConfigurationError, match="supports only post-norm Transformers"):
        write_marian_model({}, architecture, PIECES, tmp_path)


def test_the_file_size_is_that_of_the_loaded_file(tmp_path: Path) -> None:
    side = marian_side("int8", tmp_path, "python", 1.0, (104, 50))
    for setting in side.settings:
        file = tmp_path / side.options(setting)["file"]
        file.write_bytes(b"x" * len(file.name))
        assert side.file_bytes(setting) == len(file.name)
        assert side.options(setting)["shortlist"] == [104, 50]
    assert "shortlist" not in marian_side("float32", tmp_path, "python", 1.0).load_options
