"""Commands use a GPU by themselves if PyTorch finds one, and `--device cpu` overrides that. The GPU is a fake."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from pocketmt.cli.main import run
from pocketmt.engine import devices
from pocketmt.packing import model_source
from pocketmt.packing.device import model as device_model
from pocketmt.packing.device.precision import load_network
from tests.compression.tiny_run import write_tiny_run
from tests.distillation.test_pipeline import DATA, STUDENT
from tests.short_translations import short_translations

__all__ = ["short_translations"]
LEARNS_FROM_TRANSLATIONS = """
name = "trial"
[[stages]]
[[stages.quantize]]
matrices = ["*"]
scheme = "logarithmic"
bits = 4
[stages.retraining]
method = "straight_through"
updates = 1
learning_rate = { rate = 1e-3 }
objective = "sequence_distillation"
"""
PIPELINE = 'name = "p"\nteachers = ["run"]\nstudent = "student.toml"\nrecipe = "8bit"\n[distillation]\nbeam_size = 2\n'


@dataclass
class FakeGpu:
    """A GPU that computes on the processor.

    Attributes:
        used: names of the devices on which models were placed.
        precisions: in which model files were loaded.
    """

    used: list[str] = field(default_factory=list)
    precisions: list[str] = field(default_factory=list)

    def device(self, name: str) -> torch.device:
        self.used.append(name)
        return torch.device("cpu")

    def load(self, path: str, precision: str, device: torch.device) -> torch.nn.Module:
        self.precisions.append(precision)
        return load_network(path, precision, device)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    fake = FakeGpu()
    monkeypatch.setattr(devices, "_DRIVERS", ("/",))
    monkeypatch.setattr(device_model, "finds_gpu", lambda: True)
    monkeypatch.setattr(device_model, "torch_device", fake.device)
    monkeypatch.setattr(model_source, "torch_device", fake.device)
    monkeypatch.setattr(device_model, "load_network", fake.load)
    return fake


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run of a teacher, text, and a pipeline."""
    folder = tmp_path_factory.mktemp("tiny")
    write_tiny_run(folder)
    (folder / "student.toml").write_text(DATA.replace("vocabulary_size = 64\n", "") + STUDENT)
    (folder / "pipeline.toml").write_text(PIPELINE)
    return folder


@pytest.mark.parametrize(("option", "used"), [([], []), (["--device", "auto"], ["cuda"]), (["--device", "cpu"], [])])
def test_translate(
    gpu: FakeGpu, random_model: Path, text: Path, tmp_path: Path, option: list[str], used: list[str]
) -> None:
    output = tmp_path / "out.de"
    assert run(["translate", "-m", str(random_model), "-i", str(text), "-o", str(output), *option]) == 0
    assert gpu.used == used
    assert gpu.precisions == ["float32"] * len(used)
    assert output.read_text().count("\n") == text.read_text().count("\n")


@pytest.mark.parametrize(("option", "used"), [([], ["cuda"]), (["--device", "cpu"], [])])
def test_evaluate(
    gpu: FakeGpu,
    random_model: Path,
    text: Path,
    copied_text: Path,
    capsys: pytest.CaptureFixture[str],
    option: list[str],
    used: list[str],
) -> None:
    command = ["evaluate", "-m", str(random_model), "-s", str(text), "-r", str(copied_text), "-b", "1", *option]
    assert run(command) == 0
    assert "BLEU" in capsys.readouterr().out
    assert gpu.used == used
    assert gpu.precisions == ["float32"] * len(used)  # What the engine computes.


@pytest.mark.parametrize(("option", "used"), [([], ["cuda"]), (["--device", "cpu"], [])])
def test_distill(gpu: FakeGpu, folder: Path, tmp_path: Path, option: list[str], used: list[str]) -> None:
    text = folder / "dev.en"
    outputs = [str(tmp_path / name) for name in ("out.en", "out.up")]
    assert run(["distill", str(folder / "run"), "--text", str(text), "-b", "1", "-o", *outputs, *option]) == 0
    assert gpu.used == used
    assert gpu.precisions == ["float16"] * len(used)
    assert (tmp_path / "out.up").read_text().count("\n") == text.read_text().count("\n")


@pytest.mark.parametrize(("option", "used"), [([], ["cuda"] * 2), (["--device", "cpu"], [])])
def test_distill_by_an_ensemble(gpu: FakeGpu, folder: Path, tmp_path: Path, option: list[str], used: list[str]) -> None:
    teacher = str(folder / "run")
    outputs = [str(tmp_path / name) for name in ("out.en", "out.up")]
    second = str(shutil.copytree(teacher, tmp_path / "second"))
    command = ["distill", teacher, second, "--text", str(folder / "dev.en"), "-b", "1", "-o", *outputs, *option]
    assert run(command) == 0
    assert gpu.used == used


def test_pipeline(gpu: FakeGpu, folder: Path, tmp_path: Path) -> None:
    assert run(["pipeline", str(folder / "pipeline.toml"), "-o", str(tmp_path / "work")]) == 0
    assert gpu.used == ["cuda"]
    assert gpu.precisions == ["float16"]
    assert (tmp_path / "work" / "model.pocketmt").exists()


def test_compress_with_text(gpu: FakeGpu, folder: Path, tmp_path: Path) -> None:
    recipe, output = tmp_path / "recipe.toml", tmp_path / "small.pocketmt"
    recipe.write_text(LEARNS_FROM_TRANSLATIONS)
    command = ["compress", str(folder / "run"), str(recipe), "--text", str(folder / "dev.en"), "-o", str(output)]
    assert run(command) == 0
    assert gpu.used == ["cuda"]
    assert gpu.precisions == ["float16"]
    assert output.exists()


def test_sensitivity_with_text(gpu: FakeGpu, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sensitivity", str(folder / "run"), "--text", str(folder / "dev.en"), "--bits", "1", "--sentences", "2"]
    assert run(command) == 0
    assert gpu.used == ["cuda"]
    assert gpu.precisions == ["float16"]
    assert "decoder.cross_attention" in capsys.readouterr().out


@pytest.mark.parametrize(("driver", "found"), [(True, False), (False, True)])
def test_without_a_gpu_the_engine_translates(
    gpu: FakeGpu,
    monkeypatch: pytest.MonkeyPatch,
    random_model: Path,
    text: Path,
    copied_text: Path,
    driver: bool,
    found: bool,
) -> None:
    monkeypatch.setattr(devices, "_DRIVERS", ("/",) if driver else ())
    monkeypatch.setattr(device_model, "finds_gpu", lambda: found)
    assert run(["evaluate", "-m", str(random_model), "-s", str(text), "-r", str(copied_text), "-b", "1"]) == 0
    assert gpu.used == []
