"""The files that all tries share: text, runs, model files and settings, good and bad."""

import gzip
import shutil
from pathlib import Path

import torch

from pocketmt.packing.run import pack_run
from pocketmt.training.checkpoints import load_weights, save_weights
from tests.compression.tiny_run import write_tiny_run

TRAINING = """[data]
source_language = "en"
target_language = "up"
training_source = "train.en"
training_target = "train.up"
validation_source = "dev.en"
validation_target = "dev.up"
vocabulary_size = 48
[model]
encoder_layers = 1
decoder_layers = 1
model_dimension = 16
attention_dimension = 16
feed_forward_dimension = 16
[training]
threads = 1
accelerator = "cpu"
batch_tokens = 96
maximum_updates = 2
"""
PIPELINE = """name = "small"
teachers = ["run"]
student = "train.toml"
recipe = "8bit"
[distillation]
beam_size = 2
[shortlist]
top_k = 8
"""
RECIPE = """name = "mine"
[[stages]]
[[stages.quantize]]
matrices = ["*"]
scheme = "uniform"
bits = 8
[stages.retraining]
method = "straight_through"
updates = 2
learning_rate = { rate = 1e-3 }
"""


def write_world(folder: Path) -> None:
    """Write the files into a folder."""
    run = write_tiny_run(folder)
    (folder / "train.toml").write_text(TRAINING)
    (folder / "pipeline.toml").write_text(PIPELINE)
    (folder / "recipe.toml").write_text(RECIPE)
    pack_run(run, "uniform8", folder / "model.pocketmt")
    write_tiny_run(folder / "elsewhere", seed=5)
    shutil.move(folder / "elsewhere" / "run", folder / "other")
    shutil.rmtree(folder / "elsewhere")
    pack_run(folder / "other", "float32", folder / "other.pocketmt")
    _write_text(folder)
    _write_damaged(folder, run)


def _write_text(folder: Path) -> None:
    (folder / "short.up").write_text("RED\n")
    (folder / "empty.en").touch()
    (folder / "blank.en").write_text("\n \n" * 30)
    (folder / "latin.en").write_bytes("rot\ngrün\n".encode("latin-1"))
    for name in ("blank", "latin", "empty"):
        shutil.copy(folder / f"{name}.en", folder / f"{name}.up")
    (folder / "binary.en").write_bytes(bytes(range(256)) * 4)
    packed = gzip.compress(b"red cat\n" * 500)
    (folder / "cut.en.gz").write_bytes(packed[:-9])
    (folder / "plain.en.gz").write_text("red cat\n")
    (folder / "links.txt").write_text("0-0 1-1\n")
    (folder / "folder").mkdir()


def _write_damaged(folder: Path, run: Path) -> None:
    data = (folder / "model.pocketmt").read_bytes()
    (folder / "cut.pocketmt").write_bytes(data[: len(data) // 2])
    middle = len(data) // 2
    (folder / "flipped.pocketmt").write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
    (folder / "text.pocketmt").write_text("this is text\n")
    (folder / "empty.pocketmt").touch()
    for name in ("cut", "nan", "bare", "wordless"):
        shutil.copytree(run, folder / name)
    weights = (run / "model.safetensors").read_bytes()
    (folder / "cut" / "model.safetensors").write_bytes(weights[:-100])
    (folder / "bare" / "configuration.json").unlink()
    (folder / "wordless" / "vocabulary.model").unlink()
    tensors, metadata = load_weights(run / "model.safetensors")
    tensors["embedding.weight"] = torch.full_like(tensors["embedding.weight"], torch.nan)
    save_weights(folder / "nan" / "model.safetensors", tensors, metadata)
