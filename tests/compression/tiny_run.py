"""The folder of a training run (an untrained network of a few thousand weights, with text), and its compression."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

import pocketmt.training.loop as loop
import pocketmt.training.steps as steps
from pocketmt.compression.execution import execute
from pocketmt.compression.planning import make_plan
from pocketmt.compression.stage_result import StageResult
from pocketmt.model_file import open_model
from pocketmt.model_file.architecture import Architecture, TransformerArchitecture
from pocketmt.model_file.architecture.lstm import LstmArchitecture
from pocketmt.models.networks import make_network
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.recipes.schema import Recipe
from pocketmt.text.vocabulary_training import train_vocabulary
from pocketmt.training.checkpoints import save_weights
from pocketmt.training.configuration import Configuration, Data, Model, Training
from pocketmt.training.trained_model import TrainedModel

WORDS = ["red", "blue", "green", "cat", "dog", "bird", "house", "tree"]
RATE = {"rate": 3e-3}


def _transformer(dimension: int, pieces: int) -> Architecture:
    return TransformerArchitecture(
        encoder_layers=1,
        decoder_layers=1,
        model_dimension=dimension,
        feed_forward_dimension=dimension * 3 // 2,
        attention_heads=2,
        attention_dimension=dimension,
        norm="post",
        attention_bias=False,
        vocabulary_size=pieces,
    )


def lstm(dimension: int, pieces: int) -> Architecture:
    """A recurrent network instead of the Transformer."""
    return LstmArchitecture(
        encoder_layers=2,
        decoder_layers=2,
        model_dimension=dimension,
        recurrent_dimension=dimension + 4,
        attention_heads=2,
        attention_dimension=dimension,
        vocabulary_size=pieces,
    )


def write_tiny_run(
    folder: Path, seed: int = 1, dimension: int = 16, network: Callable[[int, int], Architecture] = _transformer
) -> Path:
    """Write text and the run of a network with a model dimension; returns the run's folder."""
    draw = random.Random(seed)
    run = folder / "run"
    run.mkdir(parents=True)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(2, 5))) for _ in range(60)]
    for name, some in (("train", lines), ("dev", lines[:8])):
        (folder / f"{name}.en").write_text("".join(line + "\n" for line in some))
        (folder / f"{name}.up").write_text("".join(line.upper() + "\n" for line in some))
    vocabulary = train_vocabulary([*lines, *(line.upper() for line in lines)], 48)
    (run / "vocabulary.model").write_bytes(vocabulary.model)
    architecture = network(dimension, len(vocabulary))
    torch.manual_seed(seed)
    metadata = {
        "architecture": architecture.to_json(),
        "languages": {"source": "en", "target": "up"},
        "training": {"update": 0, "validation_bleu": 0.0, "validation_loss": 4.0, "bleu_tokenization": "char"},
    }
    save_weights(run / "model.safetensors", make_network(architecture).state_dict(), metadata)
    data = Data(
        source_language="en",
        target_language="up",
        training_source=str(folder / "train.en"),
        training_target=str(folder / "train.up"),
        validation_source=str(folder / "dev.en"),
        validation_target=str(folder / "dev.up"),
    )
    training = Training(batch_tokens=96, threads=1, accelerator="cpu")
    configuration = Configuration(data=data, model=Model(dropout=0.1), training=training)
    (run / "configuration.json").write_bytes(msgspec.json.encode(configuration))
    return run


def recipe(*stages: dict[str, Any], **about: Any) -> Recipe:
    """A recipe of some stages, with further members of its file by name."""
    return msgspec.convert({"name": "a test", "stages": list(stages), **about}, Recipe)


def one_stage(scheme: str, bits: int, matrices: list[str] | None = None, **retraining: Any) -> Recipe:
    """A recipe that quantizes matrices (by default all) and retrains them for four updates."""
    quantize = {"matrices": matrices or ["*"], "scheme": scheme, "bits": bits}
    return recipe({"quantize": [quantize], "retraining": {"updates": 4, "learning_rate": RATE, **retraining}})


def compress(
    model: TrainedModel, recipe: Recipe, folder: Path, source_text: Path | None = None, **options: Any
) -> tuple[StageResult, dict[str, tuple[RowGroup, ...]]]:
    """Plan a recipe for a model, and execute it."""
    return execute(model, make_plan(recipe, model.architecture), folder, source_text, **options)


def events(folder: Path) -> list[dict[str, Any]]:
    """The events in the log of a compression, without their times."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def assert_equal(left: StageResult, right: StageResult) -> None:
    """Assert that two compressions have the same scores, weights, codes and parameters."""
    assert left.scores == right.scores
    assert all(torch.equal(tensor, right.weights[name]) for name, tensor in left.weights.items())
    for name, matrix in left.quantized.items():
        for mine, theirs in zip(matrix, right.quantized[name], strict=True):
            assert torch.equal(mine.codes, theirs.codes), name
            assert all(torch.equal(value, theirs.parameters[key]) for key, value in mine.parameters.items()), name


def tensors(path: Path) -> dict[str, bytes]:
    """The bytes of each tensor of a model file."""
    with open_model(path) as file:
        return {name: bytes(file.data(name)) for name in file.tensors}


class Uninterrupted:
    """Compressions of one model that were never stopped, each made once, with which resumed ones are compared."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: dict[bytes, tuple[StageResult, Path]] = {}

    def compress(self, model: TrainedModel, recipe: Recipe) -> tuple[StageResult, Path]:
        """Return the result of a recipe and its folder."""
        key = msgspec.json.encode(recipe)
        if key not in self.made:
            folder = self.folder / str(len(self.made))
            self.made[key] = (compress(model, recipe, folder)[0], folder)
        return self.made[key]


def stop_at_update(stopped: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt one step of the optimizer, by its number from 1 over all later compressions."""
    step, taken = steps.step, 0

    def stopping(*arguments: Any) -> None:
        nonlocal taken
        taken += 1
        if taken == stopped:
            raise KeyboardInterrupt
        step(*arguments)

    monkeypatch.setattr(loop, "step", stopping)
