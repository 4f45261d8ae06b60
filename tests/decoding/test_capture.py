"""A step can be captured as a CUDA graph: it asks the host for nothing, and its tensors stay where they are."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.models.network import TranslationNetwork
from pocketmt.packing.device.precision import load_network
from pocketmt.packing.reference.stored_rows import StoredRows
from pocketmt.text.vocabulary import Vocabulary
from tests.engine import reference, test_fully_quantized, test_lstm, test_parity
from tests.engine.conftest import sentences
from tests.engine.reference import architecture, random_network

# Operations that wait for a value, have a result whose shape depends on values, or copy from the host.
UNCAPTURED = (
    "_local_scalar_dense",
    "nonzero",
    "masked_select",
    "unique",
    "lift_fresh",
    "is_nonzero",
    "repeat_interleave.Tensor",
)


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the names of operations."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(str(function))
        return function(*args, **(kwargs or {}))


@torch.inference_mode()
def assert_capturable(*networks: TranslationNetwork, beam: int = 3) -> None:
    settings = SearchSettings(beam, min_length=2)
    slots = Slots(networks, settings, SlotShape(4, 24, 16, shortlists=True, prefixes=True))
    requests = [Request(source, 12, (5, 6), range(2, 60)) for source in sentences(3)]
    slots.fill([0, 1, 3], requests)
    addresses = [tensor.data_ptr() for tensor in slots._all_tensors()]
    with Operations() as operations:
        for _ in range(3):
            slots.step()
    assert ("aten.max.dim" if beam == 1 else "aten.topk.default") in operations.names
    assert not [name for name in operations.names for forbidden in UNCAPTURED if forbidden in name]
    assert addresses == [tensor.data_ptr() for tensor in slots._all_tensors()]
    assert slots.search.progress()[1][:2] == [3, 3]


@pytest.mark.parametrize("shape", ["post-norm", "recurrent decoder", "average attention decoder, feed-forward"])
def test_float_networks(shape: str) -> None:
    assert_capturable(random_network(architecture(**test_parity.SHAPES[shape])))


def test_lstms_and_ensembles() -> None:
    assert_capturable(random_network(test_lstm.lstm()), random_network(architecture()), beam=1)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "packed_float16", "int8_bfloat16"])
def test_quantized_files(tmp_path: Path, vocabulary: Vocabulary, precision: str) -> None:
    path = tmp_path / "model.pocketmt"
    reference.write(path, random_network(architecture()), vocabulary, reference.mixed)
    network = load_network(str(path), precision, torch.device("cpu"))
    assert_capturable(network)
    for module in network.modules():  # as on a GPU
        if isinstance(module, StoredRows):
            module.store_packed()
    assert_capturable(network)


def test_fully_quantized_networks(tmp_path: Path, vocabulary: Vocabulary) -> None:
    assert_capturable(
        test_fully_quantized.write(tmp_path / "model.pocketmt", vocabulary, test_fully_quantized.EXACT["strategy"])
    )
