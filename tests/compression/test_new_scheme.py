"""A scheme defined and registered in this file only is listed, trained, packed, run and reported like any other.

It uses an existing stored form, that of codebooks.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import msgspec
import pytest
import torch
from torch import Tensor

from pocketmt.cli.main import run as command
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import open_model
from pocketmt.model_file.report import inspect_model
from pocketmt.packing.reference.network import load_reference
from pocketmt.quantization import Parameters, fake_quantize
from pocketmt.quantization.lookup_table import MatrixCodebook
from pocketmt.quantization.registry import SCHEMES, register_scheme, scheme_from_options
from pocketmt.recipes.schema import Recipe, read_recipe
from pocketmt.training.trained_model import read_trained_model
from tests.compression.tiny_run import compress, write_tiny_run
from tests.recipes.parity import assert_parity

NAME: Final = "square_root_powers"
MATRIX: Final = "encoder.layers.0.feed_forward.inner.weight"
MAGNITUDES: Final = [round(127 * math.sqrt(2) ** -power) for power in range(8)]
LEVELS: Final = torch.tensor([*MAGNITUDES, *(-magnitude for magnitude in MAGNITUDES)], dtype=torch.float32)


@dataclass(frozen=True)
class SquareRootPowers(MatrixCodebook):
    """Powers of the square root of 2 with a sign, times one scale for each matrix, which is learnable."""

    name: ClassVar[str] = NAME
    bits: ClassVar[Literal[4]] = 4

    def fit(self, weight: Tensor) -> Parameters:
        return {"levels": LEVELS, "scale": (weight.detach().abs().amax() / 127).reshape(1)}

    def learnable_parameters(self, parameters: Parameters) -> Tensor:
        return parameters["scale"]

    def parameters_from(self, learnable: Tensor) -> Parameters:
        return {"levels": LEVELS, "scale": learnable.abs()}


METHODS: dict[str, dict[str, Any]] = {
    "straight-through": {"method": "straight_through"},
    "straight-through, learnable": {"method": "straight_through", "parameters": "trained"},
    "fixed codes, learnable": {"method": "trained_parameters"},
    "error feedback": {"method": "error_feedback", "refit_every": 1},
}


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    register_scheme(SquareRootPowers)
    yield
    del SCHEMES[NAME]


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def recipe(method: dict[str, Any] | None) -> Recipe:
    """All matrices in the scheme, retrained by a method if one is given."""
    retraining = method and {"updates": 4, "learning_rate": {"rate": 0.01}, **method}
    stage = {"quantize": [{"matrices": ["*"], "scheme": NAME, "bits": 4}], "retraining": retraining}
    return msgspec.convert({"name": "a test", "stages": [stage]}, Recipe)


def test_error_messages_list_the_scheme(tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\n[[stages]]\n[[stages.quantize]]\nmatrices = ["*"]\nscheme = "none"\nbits = 4\n')
    assert command(["compress", str(tiny_run), str(mine), "--output", str(tmp_path / "model.pocketmt")]) == 1
    assert f"choose one of {', '.join(SCHEMES)}" in capsys.readouterr().err
    mine.write_text(mine.read_text().replace('"none"', f'"{NAME}"'))
    assert read_recipe(mine).stages[0].quantize[0].scheme == NAME
    with pytest.raises(ConfigurationError, match=f"{NAME}: bits is 3, expected one of 4"):
        scheme_from_options(NAME, bits=3)


def test_a_name_can_be_registered_once() -> None:
    with pytest.raises(ConfigurationError, match="registered already"):
        register_scheme(SquareRootPowers)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_trained(tiny_run: Path, tmp_path: Path, method: str) -> None:
    model = read_trained_model(tiny_run)
    result, groups = compress(model, recipe(METHODS[method]), tmp_path / "work")
    (group,) = result.quantized[MATRIX]
    assert groups[MATRIX][0].scheme == SquareRootPowers()
    assert torch.equal(group.parameters["levels"], LEVELS)
    assert int(group.codes.max()) <= 15
    assert not torch.equal(group.parameters["scale"], SquareRootPowers().fit(model.weights[MATRIX])["scale"])


@pytest.mark.parametrize("method", [None, *METHODS])
def test_it_is_packed_and_run_as_in_pytorch(tiny_run: Path, tmp_path: Path, method: str | None) -> None:
    path = tmp_path / "model.pocketmt"
    task = CompressionTask(run=tiny_run, folder=tmp_path / "work")
    compress_run(task, recipe(METHODS[method] if method else None), path)
    assert_parity(path, tiny_run.parent)
    with open_model(path) as file:
        assert bytes(file.data(f"{MATRIX}.0.levels")) == LEVELS.to(torch.int8).numpy().tobytes()
        manifest: Any = file.manifest
        assert manifest["recipe"]["stages"][0]["quantize"][0]["scheme"] == NAME
    if method is None:
        weight = load_reference(path).get_submodule(MATRIX.removesuffix(".weight")).weight()  # type: ignore[operator]
        assert torch.equal(weight, fake_quantize(SquareRootPowers(), read_trained_model(tiny_run).weights[MATRIX]))


def test_it_is_reported(tiny_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    compress_run(CompressionTask(run=tiny_run, folder=tmp_path / "work"), recipe(None), path)
    matrices = {matrix.name: matrix for matrix in inspect_model(path).matrices}
    assert {matrix.scheme for matrix in matrices.values()} == {"codebook 4 bit per matrix"}
    rows, columns = matrices[MATRIX].shape
    assert matrices[MATRIX].code_bits == 4
    assert matrices[MATRIX].bytes == rows * columns // 2 + 16 + 4  # codes, levels, scale
