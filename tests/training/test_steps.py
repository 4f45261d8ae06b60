"""Seeds of updates, batches for several processes, and errors in them."""

import errno
import os
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from lightning_fabric import Fabric
from torch import nn
from torch.multiprocessing.spawn import ProcessRaisedException

from pocketmt.errors import DataError
from pocketmt.models.dropout import Dropout
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.training.steps import DivergedError, compile_layers, launch, seed_update, share_of_epoch

ARCHITECTURE = preset("tiny", 20)
PAIRS = [([5, 6], [7, 8]), ([5, 6, 9], [7, 8, 9]), ([5], [7])]


def fabric(rank: int = 0, processes: int = 1) -> Any:
    return SimpleNamespace(global_rank=rank, world_size=processes, device="cpu")


def drawn(seed: int, update: int, rank: int = 0) -> list[float]:
    seed_update(fabric(rank), seed, update)
    draws: list[float] = torch.rand(4).tolist()
    return draws


def test_each_update_and_process_has_another_seed() -> None:
    draws = [drawn(seed, update, rank) for seed in (1, 2**60) for update in (1, 2) for rank in (0, 1)]
    assert len({tuple(each) for each in draws}) == 8
    assert drawn(2**60, 1) == drawn(2**60, 1)


@pytest.mark.parametrize(("name", "compiled"), [("tiny", 8), ("6-2.tiny", 6), ("lstm.tiny", 0)])
def test_compiled_layers_compute_the_same(monkeypatch: pytest.MonkeyPatch, name: str, compiled: int) -> None:
    compile_module, calls = nn.Module.compile, []

    def without_machine_code(module: nn.Module, **settings: Any) -> None:
        calls.append(settings)
        compile_module(module, backend="eager", **settings)

    monkeypatch.setattr(nn.Module, "compile", without_machine_code)
    torch.manual_seed(1)
    network = make_network(preset(name, 20)).eval()
    batches = [torch.randint(4, 20, shape) for shape in ((2, 3), (3, 5))]
    expected = [network(batch, batch) for batch in batches]
    compile_layers(network)
    assert calls == [{"dynamic": True}] * compiled
    for batch, decoded in zip(batches, expected, strict=True):
        torch.testing.assert_close(network(batch, batch), decoded)


def test_processes_divide_an_epoch_and_count_all_tokens() -> None:
    shares = [list(share_of_epoch(fabric(rank, 3), ARCHITECTURE, PAIRS, 4, 1, 0)) for rank in range(3)]
    assert sorted(len(share[0][0][0].targets[0]) for share in shares) == [2, 3, 4]
    assert [share[0][1:] for share in shares] == [(9, 3)] * 3


def test_more_processes_than_batches_are_refused() -> None:
    with pytest.raises(DataError, match="makes 3 batches, an update needs 4: train with fewer devices"):
        list(share_of_epoch(fabric(0, 4), ARCHITECTURE, PAIRS, 4, 1, 0))


def test_a_high_dropout_rate_keeps_the_mean() -> None:
    torch.manual_seed(1)
    kept = Dropout(0.999).train()(torch.ones(200_000))
    assert 0.8 < float(kept.mean()) < 1.2


def fail_in_first_process(fabric: Fabric, error: Exception) -> None:
    """Raise an error in the first process; the other fails because the first one is missing."""
    if fabric.global_rank == 0:
        raise error
    fabric.barrier()


@pytest.mark.usefixtures("quick_processes")
@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "run/checkpoint.pt"),
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 2 GiB."),
        DivergedError("training diverged"),
    ],
)
def test_an_error_of_a_spawned_process_is_raised_as_itself(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        launch(Fabric(accelerator="cpu", devices=2, strategy="ddp_spawn"), fail_in_first_process, error)
    assert type(raised.value) is type(error) and str(raised.value) == str(error)
    if isinstance(raised.value, OSError):
        assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, "run/checkpoint.pt")


@pytest.mark.usefixtures("quick_processes")
def test_a_mistake_in_a_spawned_process_keeps_its_traceback() -> None:
    with pytest.raises(ProcessRaisedException, match=r"in fail_in_first_process[\s\S]*ValueError: a mistake"):
        launch(
            Fabric(accelerator="cpu", devices=2, strategy="ddp_spawn"), fail_in_first_process, ValueError("a mistake")
        )
