"""Checkpoints in every form give the same tensors, and nothing in them is run."""

import io
import json
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.checkpoint import read_checkpoint
from pocketmt.interop.hugging_face.weights import Weights

TENSORS = {
    "matrix": torch.arange(12, dtype=torch.float32).reshape(3, 4) / 7,
    "half": torch.linspace(-2, 2, 5).half(),
    "brain": torch.linspace(-3, 3, 6).bfloat16(),
}


def save_safetensors(folder: Path) -> None:
    safetensors.torch.save_file(TENSORS, folder / "model.safetensors")


def save_zip(folder: Path) -> None:
    torch.save(OrderedDict(TENSORS), folder / "pytorch_model.bin")


def save_old(folder: Path) -> None:
    torch.save(TENSORS, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)


def save_parameters(folder: Path) -> None:
    torch.save({name: torch.nn.Parameter(tensor) for name, tensor in TENSORS.items()}, folder / "pytorch_model.bin")


def save_shards(folder: Path) -> None:
    places = {}
    for number, (name, tensor) in enumerate(TENSORS.items()):
        places[name] = f"model-{number}.safetensors"
        safetensors.torch.save_file({name: tensor}, folder / places[name])
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


@pytest.mark.parametrize("save", [save_safetensors, save_zip, save_old, save_parameters, save_shards])
def test_values_are_those_of_pytorch(tmp_path: Path, save: Callable[[Path], None]) -> None:
    save(tmp_path)
    found = read_checkpoint(tmp_path).found
    assert found.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert found[name].shape == tuple(tensor.shape)
        assert np.array_equal(found[name].read(), tensor.float().numpy())


@pytest.mark.parametrize("save", [save_safetensors, save_zip, save_old, save_shards])
def test_other_types_are_remembered_and_refused_where_they_are_needed(
    tmp_path: Path, save: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TENSORS, "matrix", torch.ones(3, 4, dtype=torch.float64))
    monkeypatch.setitem(TENSORS, "final_logits_bias", torch.ones(1, 4, dtype=torch.int64))
    save(tmp_path)
    weights = Weights(read_checkpoint(tmp_path))
    weights.take("half", 5)
    for names in (("matrix",), ("other", "matrix")):
        with pytest.raises(InteropError, match="tensor matrix is float64: save it as float32"):
            weights.take_tied(names, 3, 4)
    with pytest.raises(InteropError, match="final_logits_bias is int64: save it as float32"):
        weights.output_bias(4)


def test_parts_of_one_storage(tmp_path: Path) -> None:
    whole = torch.arange(10, dtype=torch.float32)
    torch.save({"end": whole[4:], "tied": whole, "again": whole}, tmp_path / "pytorch_model.bin")
    found = read_checkpoint(tmp_path).found
    assert np.array_equal(found["end"].read(), whole[4:].numpy())
    assert np.array_equal(found["again"].read(), whole.numpy())


class Command:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch /tmp/pocketmt-was-here",)


class State:
    def __init__(self) -> None:
        self.attribute = 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"weight": Command()}, "calls 'posix.system', which is not run"),
        ({"weight": State()}, "is not run|no dictionary of tensors needs"),
        (Command(), "is not run"),
        ({"weight": "text"}, "'weight', which is no tensor"),
        ([torch.ones(2)], "does not hold tensors by name"),
        ({(1, 2): torch.ones(2)}, "a key that is no string"),
        ({"weight": torch.ones(2), 0: torch.ones(2)}, "a tensor with the name 0"),
        ({"weight": torch.ones(4, 3).t()}, "in another order of elements"),
        ({"weight": torch.ones(1).expand(5)}, "another order of elements|has 5 elements"),
    ],
)
@pytest.mark.parametrize("new", [True, False])
def test_anything_but_tensors_is_refused_and_not_run(tmp_path: Path, value: Any, message: str, new: bool) -> None:
    witness = Path("/tmp/pocketmt-was-here")
    witness.unlink(missing_ok=True)
    torch.save(value, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=new)
    with pytest.raises(InteropError, match=message):
        read_checkpoint(tmp_path)
    assert not witness.exists()


def with_pickle(path: Path, content: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", content)
        archive.writestr("archive/data/0", b"\0" * 16)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged|cut off"),
        (b"\x80\x02}", "damaged|cut off"),
        (b"\x80\x02}q\x00(X\x01\x00\x00\x00a", "damaged|cut off"),
        (b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00ls" + b"tR.", "calls 'os.system'"),
        (b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x86\x81.", "instruction NEWOBJ"),
        (b"(S'ls'\nios\nsystem\n.", "the instruction"),
        (b"\x80\x02]" + b"]" * 1_000_001 + b".", "more than 1,000,000 instructions"),
        # A place in the memory that Python's unpickler would make room for.
        (b"\x80\x02}r\xff\xff\xff\x7f.", "nothing is wrong"),
        (pickle.dumps({"a": 1}, protocol=0), "the instruction"),
    ],
)
def test_hostile_pickles_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "pytorch_model.bin"
    with_pickle(path, content)
    if content.endswith(b"\x7f."):
        assert read_checkpoint(tmp_path).found == {}
        return
    with pytest.raises(InteropError, match=message):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize("save", [save_safetensors, save_zip, save_old])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, save: Callable[[Path], None]) -> None:
    save(tmp_path)
    path = next(tmp_path.iterdir())
    whole = path.read_bytes()
    for size in (0, 1, 7, 8, 60, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InteropError, match=str(path)):
            for tensor in read_checkpoint(tmp_path).found.values():
                tensor.read()
            raise InteropError(f"{path}: nothing was refused")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": [3, 5]}, "takes 60 bytes"),
        ({"shape": [-3, 4]}, "no tensor of a network has"),
        ({"shape": [1 << 40, 1 << 40]}, "no tensor of a network has"),
        ({"data_offsets": [0, 1 << 62]}, "takes 48 bytes"),
        ({"data_offsets": [1 << 40, (1 << 40) + 48]}, "the file ends at byte"),
        ({"data_offsets": [48, 0]}, "takes 48 bytes"),
        ({"data_offsets": None}, "wrong type"),
    ],
)
def test_lying_entries_of_safetensors_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    entry = {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]} | changes
    header = json.dumps({"matrix": entry}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(48))
    with pytest.raises(InteropError, match=message):
        read_checkpoint(tmp_path)


def test_damaged_numbers_of_a_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pytorch_model.bin"
    matrix = torch.arange(10_000, dtype=torch.float32)
    torch.save({"matrix": matrix, "tied": matrix}, path)
    content = path.read_bytes()
    place = content.index(matrix[5000:5010].numpy().tobytes())
    path.write_bytes(content[:place] + b"\1" + content[place + 1 :])
    with pytest.raises(InteropError, match=r"pytorch_model\.bin: '.*/data/0' is damaged: download it again"):
        read_checkpoint(tmp_path)


def test_a_zip_without_checksums_is_read(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(False)
    try:
        save_zip(tmp_path)
    finally:
        torch.serialization.set_crc32_options(True)
    with zipfile.ZipFile(tmp_path / "pytorch_model.bin") as archive:
        assert {entry.CRC for entry in archive.infolist()} == {0}
    found = read_checkpoint(tmp_path).found
    for name, tensor in TENSORS.items():
        assert np.array_equal(found[name].read(), tensor.float().numpy())


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pytorch_model.bin"
    content = io.BytesIO()
    torch.save(dict(TENSORS), content)
    with zipfile.ZipFile(content) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        for name in archive.namelist():
            bomb.writestr(name, bytes(1 << 24) if name.endswith("data.pkl") else archive.read(name))
    with pytest.raises(InteropError, match="expected at most"):
        read_checkpoint(tmp_path)


def test_an_index_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    safetensors.torch.save_file({"a": torch.ones(2)}, tmp_path / "outside.safetensors")
    for name in ("../outside.safetensors", str(tmp_path / "outside.safetensors"), "missing.safetensors", "a" * 5000):
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
        with pytest.raises(InteropError, match="no file of this folder"):
            read_checkpoint(folder)
