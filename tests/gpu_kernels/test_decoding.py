"""The decoder with the kernels finds what it finds with PyTorch's functions."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pocketmt.decoding import best_pieces as best_pieces_module
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.models import attention as attention_module
from pocketmt.models.inputs import PADDING
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.device.precision import load_network
from pocketmt.packing.reference import network as network_module
from pocketmt.packing.reference.stored_rows import StoredRows
from pocketmt.text.vocabulary import Vocabulary
from tests.engine import reference, test_parity
from tests.engine.conftest import sentences, vocabulary
from tests.engine.reference import architecture, random_network

__all__ = ["vocabulary"]
Switch = Callable[[bool], None]


@pytest.fixture
def use_kernels(monkeypatch: pytest.MonkeyPatch) -> Switch:
    def switch(used: bool) -> None:
        for module in (best_pieces_module, attention_module, network_module):
            monkeypatch.setattr(module, "kernels_take", lambda tensor: used)

    return switch


def assert_the_same(use_kernels: Switch, networks: list[TranslationNetwork], beam: int) -> None:
    requests = [Request(source, 5) for source in sentences(2)]
    settings = SearchSettings(beam, scores=beam > 1)
    use_kernels(False)
    expected = Decoder(networks).translate(requests, settings)
    use_kernels(True)
    found = Decoder(networks).translate(requests, settings)
    assert [[each.ids for each in hypotheses] for hypotheses in found] == [
        [each.ids for each in hypotheses] for hypotheses in expected
    ]
    scores, expected_scores = (
        [score for hypotheses in result for each in hypotheses for score in (each.score, *each.token_scores)]
        for result in (found, expected)
    )
    assert scores == pytest.approx(expected_scores, abs=1e-5)


@pytest.mark.parametrize("shape", ["post-norm", "recurrent decoder"])
@pytest.mark.parametrize("beam", [1, 3])
def test_networks(use_kernels: Switch, shape: str, beam: int) -> None:
    assert_the_same(use_kernels, [random_network(architecture(**test_parity.SHAPES[shape]))], beam)


@pytest.mark.parametrize("positions", [5, 16, 17])
def test_whole_targets_in_batches_of_more_sentences_than_positions(use_kernels: Switch, positions: int) -> None:
    network = random_network(architecture()).eval()
    generator = torch.Generator().manual_seed(positions)
    source, target = (torch.randint(4, 40, (20, positions), generator=generator) for _ in range(2))
    for sentence in range(20):
        source[sentence, positions - sentence % positions :] = PADDING
    use_kernels(False)
    with torch.inference_mode():
        expected = network(source, target)
        use_kernels(True)
        assert torch.allclose(network(source, target), expected, atol=1e-5)


def test_ensembles(use_kernels: Switch) -> None:
    assert_the_same(use_kernels, [random_network(architecture()), random_network(architecture())], 2)


def test_quantized_files(use_kernels: Switch, tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "model.pocketmt"
    reference.write(path, random_network(architecture()), vocabulary, reference.mixed)
    network = load_network(str(path), "float32", torch.device("cpu"))
    for module in network.modules():  # as on a GPU
        if isinstance(module, StoredRows):
            module.store_packed()
    assert_the_same(use_kernels, [network], 2)
