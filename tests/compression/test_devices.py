"""Devices of a compression: no more than exist, whatever the training run was configured for, and one suffices."""

import dataclasses
from pathlib import Path

import msgspec
import pytest
import torch
from lightning_fabric import Fabric

import pocketmt.compression.execution as execution
import pocketmt.training.steps as steps
from pocketmt.errors import ConfigurationError
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.training.configuration import Training
from pocketmt.training.steps import make_fabric, on_existing_devices
from pocketmt.training.trained_model import TrainedModel, read_trained_model
from tests.compression.tiny_run import assert_equal, compress, one_stage, write_tiny_run


@pytest.fixture
def model(tmp_path: Path) -> TrainedModel:
    return read_trained_model(write_tiny_run(tmp_path))


@pytest.fixture(autouse=True)
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of devices that compressions ask for, on a machine of one core."""
    asked: list[int] = []

    def recorded(settings: Training) -> Fabric:
        asked.append(settings.devices)
        return make_fabric(settings)

    monkeypatch.setattr(steps, "available_cores", lambda: 1)
    monkeypatch.setattr(execution, "make_fabric", recorded)
    return asked


def trained_with(model: TrainedModel, **settings: object) -> TrainedModel:
    assert model.configuration is not None
    training = msgspec.structs.replace(model.configuration.training, **settings)
    return dataclasses.replace(model, configuration=msgspec.structs.replace(model.configuration, training=training))


@pytest.mark.parametrize(
    ("devices", "batches", "existing", "expected"),
    [(16, None, 8, (8, 16)), (16, None, 6, (4, 16)), (4, 12, 3, (3, 12)), (2, 4, 8, (2, 4)), (3, None, 2, (1, 3))],
)
def test_fewer_devices_share_the_same_batches_evenly(
    devices: int, batches: int | None, existing: int, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "available_cores", lambda: existing)
    found = on_existing_devices(Training(devices=devices, batches_per_update=batches, accelerator="cpu"))
    assert (found.devices, found.batches_per_update) == expected


def test_a_recipe_that_trains_nothing_uses_one_device(model: TrainedModel, tmp_path: Path, used: list[int]) -> None:
    warnings: list[str] = []
    compress(trained_with(model, devices=16), find_recipe("8bit"), tmp_path / "work", warn=warnings.append)
    assert used == [1] and warnings == []


def test_retraining_on_fewer_devices_has_the_batches_of_all(
    model: TrainedModel, tmp_path: Path, used: list[int]
) -> None:
    warnings: list[str] = []
    plan = one_stage("uniform", 8, method="straight_through", updates=2)
    fewer, _ = compress(trained_with(model, devices=2), plan, tmp_path / "fewer", warn=warnings.append)
    one, _ = compress(trained_with(model, batches_per_update=2), plan, tmp_path / "one")
    other, _ = compress(model, plan, tmp_path / "other")
    assert_equal(fewer, one)
    assert fewer.scores != other.scores
    assert used == [1, 1, 1]
    assert [each.partition(" in the ")[0] for each in warnings] == ["devices is 2"]


def test_a_missing_gpu_is_found_before_the_folder_is_created(
    model: TrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigurationError, match="finds no GPU"):
        compress(trained_with(model, accelerator="cuda"), find_recipe("8bit"), tmp_path / "work")
    assert not (tmp_path / "work").exists()
