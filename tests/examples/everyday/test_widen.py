"""Wider feed-forward layers: the same translations at first, and nodes that learn."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from examples.everyday.widen import main, widened
from pocketmt.errors import ConfigurationError
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.decoded import read_model
from pocketmt.packing.model_file import pack
from pocketmt.training.trained_model import TrainedModel
from tests.small_network import architecture, random_transformer

SOURCE = torch.tensor([[5, 9, 11, 30, 3], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 8, 14, 6], [2, 21, 40, 9]])


@pytest.fixture
def path(tmp_path: Path, vocabulary: bytes) -> Path:
    model = random_transformer(architecture())
    metadata = ModelMetadata(source_language="en", target_language="de", training={"updates": 10})
    pack(
        tmp_path / "narrow.pocketmt",
        ModelContents(model.state_dict(), model.architecture, vocabulary, "float32", metadata),
    )
    return tmp_path / "narrow.pocketmt"


@pytest.fixture
def narrow(path: Path) -> TrainedModel:
    return read_model(str(path))


def test_a_wider_network_computes_the_same(narrow: TrainedModel) -> None:
    wide = widened(narrow, 40, seed=1)
    assert wide.weights["encoder.layers.1.feed_forward.inner.weight"].shape == (40, 14)
    torch.testing.assert_close(wide.network()(SOURCE, TARGET), narrow.network()(SOURCE, TARGET), rtol=0, atol=1e-6)


def test_new_nodes_learn(narrow: TrainedModel) -> None:
    """One step changes the outgoing weights of new nodes, from which their incoming weights have a gradient."""
    network = widened(narrow, 40, seed=1).network().requires_grad_(True)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    weights = dict(network.named_parameters())
    for name in ("outer.weight", "inner.weight"):
        optimizer.zero_grad()
        network(SOURCE, TARGET).square().mean().backward()
        gradient = weights[f"encoder.layers.0.feed_forward.{name}"].grad
        assert gradient is not None
        new = gradient[:, 21:] if name == "outer.weight" else gradient[21:]
        assert new.abs().max() > 0
        optimizer.step()


def test_the_seed_decides_the_new_weights(narrow: TrainedModel) -> None:
    name = "decoder.layers.0.feed_forward.inner.weight"
    first, again, other = (widened(narrow, 40, seed).weights[name] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(first[:21], other[:21])


def test_fewer_nodes_are_refused(narrow: TrainedModel) -> None:
    with pytest.raises(ConfigurationError, match="have 21 nodes, more than 20"):
        widened(narrow, 20, seed=1)


def test_layers_of_unequal_widths_are_refused(narrow: TrainedModel) -> None:
    pruned = replace(narrow, architecture=replace(architecture(), encoder_feed_forward=(21, 20)))
    with pytest.raises(ConfigurationError, match="equally wide layers"):
        widened(pruned, 40, seed=1)


def test_the_command_writes_a_wider_model(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "wide.pocketmt"
    arguments = ["widen", str(path), "--feed-forward-dimension", "40", "--output", str(output)]
    monkeypatch.setattr("sys.argv", arguments)
    assert main() == 0
    wide = read_model(str(output))
    assert wide.training == {"updates": 10}
    assert torch.equal(wide.weights["encoder.layers.0.feed_forward.outer.weight"][:, 21:], torch.zeros(14, 19))
    arguments[3] = "20"
    output.unlink()
    assert main() == 1
    assert "narrower" in capsys.readouterr().err
    assert not output.exists()
