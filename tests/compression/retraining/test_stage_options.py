"""Options of a stage that reach its training loop and its loss; without them, those of the run do."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pocketmt.compression.stage import StageRun
from pocketmt.recipes.schema import Recipe
from pocketmt.training.loop import TrainingLoop
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import compress, write_tiny_run

FALLING = {"rate": 0.004, "schedule": "inverse_square_root"}


class _BuiltError(Exception):
    """Ends a compression before its first update."""


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def built_loop(run: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> TrainingLoop[Any]:
    """Return the training loop of a stage with some options, of a run with a clip_norm and label_smoothing."""
    loops = []

    def stop(stage: StageRun) -> None:
        loops.append(stage.loop)
        raise _BuiltError

    monkeypatch.setattr(StageRun, "go", stop)
    model = read_trained_model(run)
    assert model.configuration is not None
    training = msgspec.structs.replace(model.configuration.training, clip_norm=3.0, label_smoothing=0.2)
    model = replace(model, configuration=msgspec.structs.replace(model.configuration, training=training))
    stage = {
        "quantize": [{"matrices": ["*"], "scheme": "uniform", "bits": 8}],
        "retraining": {"method": "straight_through", "updates": 9, "learning_rate": {"rate": 0.004}, **options},
    }
    with pytest.raises(_BuiltError):
        compress(model, msgspec.convert({"name": "a test", "stages": [stage]}, Recipe), folder)
    (loop,) = loops
    return loop


@pytest.mark.parametrize(
    ("options", "clip_norm", "smoothing", "cross_entropy_weight"),
    [
        ({}, 3.0, 0.2, 0.0),
        ({"clip_norm": 0.25}, 0.25, 0.2, 0.0),
        ({"label_smoothing": 0.05}, 3.0, 0.05, 0.0),
        ({"label_smoothing": 0.0}, 3.0, 0.0, 0.0),
        ({"objective": "mixed", "cross_entropy_weight": 0.3}, 3.0, 0.2, 0.3),
    ],
)
def test_options_of_the_loss_and_of_gradients(
    tiny_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    clip_norm: float,
    smoothing: float,
    cross_entropy_weight: float,
) -> None:
    loop = built_loop(tiny_run, tmp_path / "work", monkeypatch, options)
    assert isinstance(loop.objective, TranslationObjective)
    assert loop.settings.clip_norm == clip_norm
    assert loop.objective.smoothing == smoothing
    assert loop.objective.cross_entropy_weight == cross_entropy_weight


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ({"rate": 0.004}, [0.004, 0.004, 0.004, 0.004]),
        ({"rate": 0.004, "warmup_updates": 4}, [0.001, 0.004, 0.004, 0.004]),
        (FALLING, [0.004, 0.002, 0.004 / math.sqrt(5), 0.004 / 3]),
        (FALLING | {"constant_updates": 5}, [0.004, 0.004, 0.004, 0.004 * math.sqrt(5 / 9)]),
        ({"rate": 0.004, "schedule": "linear", "constant_updates": 5}, [0.004, 0.004, 0.004, 0.0008]),
    ],
)
def test_options_of_the_learning_rate(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate: dict[str, Any], expected: list[float]
) -> None:
    settings = built_loop(tiny_run, tmp_path / "work", monkeypatch, {"learning_rate": rate}).settings
    assert [settings.rate(update) for update in (1, 4, 5, 9)] == pytest.approx(expected)
