"""Steps that all training loops share: the batches of each process, seeds, gradients and the optimizer."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import torch
from torch import Tensor, nn
from torch.distributed import is_torchelastic_launched
from torch.multiprocessing.spawn import ProcessException
from torch.optim import Optimizer

from pocketmt.cores import available_cores
from pocketmt.errors import ConfigurationError, DataError, PocketMTError
from pocketmt.model_file.architecture import Architecture
from pocketmt.models.attention import use_attention_for_all_shapes
from pocketmt.models.dropout import Dropouts
from pocketmt.models.network import TranslationNetwork
from pocketmt.text.batching import make_batches
from pocketmt.training.configuration import Model, Training
from pocketmt.training.data import Batch, Pair, make_batch

if TYPE_CHECKING:
    from lightning_fabric import Fabric

T = TypeVar("T")
SEED_LIMIT: Final = 1 << 63  # PyTorch's generator accepts seeds below it.
# Errors that the command explains in one line.
PASSED_ON: Final = (PocketMTError, OSError, MemoryError, torch.OutOfMemoryError)


class DivergedError(PocketMTError):
    """Training has diverged: a gradient is infinite or NaN."""


def make_fabric(settings: Training) -> "Fabric":
    """Return the Fabric that runs training on the configured device, in one process or several.

    Under torchrun, which starts the processes of all machines, the number of devices is that of the processes.

    Raises ConfigurationError as `check_accelerator` does.
    """
    check_accelerator(settings)
    from lightning_fabric import Fabric  # Its import takes seconds.

    use_attention_for_all_shapes()
    launched = launched_processes()
    strategy = "ddp_spawn" if settings.devices > 1 else "auto"
    local = int(os.environ["LOCAL_WORLD_SIZE"]) if launched else settings.devices
    return Fabric(
        accelerator=settings.accelerator,
        devices=local,
        num_nodes=launched // local if launched else 1,
        strategy="ddp" if launched else strategy,
        precision="bf16-mixed" if settings.precision == "bfloat16-mixed" else "32-true",
    )


def launched_processes() -> int:
    """Return the number of processes that torchrun has started, of which this is one; 0 without torchrun."""
    return int(os.environ["WORLD_SIZE"]) if is_torchelastic_launched() else 0


def is_first_process() -> bool:
    """Return whether this is the first of the processes that torchrun has started; True without torchrun."""
    return not launched_processes() or os.environ["RANK"] == "0"


def check_accelerator(settings: Training) -> None:
    """Raise ConfigurationError if PyTorch finds no device of the configured kind, or devices cannot share batches."""
    batches, devices = settings.batches_per_update or settings.devices, settings.devices
    if batches % devices:
        raise ConfigurationError(
            f"batches_per_update is {batches} for {devices} devices, each of which has the same number of batches: "
            "give a multiple"
        )
    found = torch.cuda.is_available() or (settings.accelerator == "gpu" and torch.backends.mps.is_available())
    if settings.accelerator in ("gpu", "cuda") and not found:
        build = "with CUDA" if torch.version.cuda else "without CUDA"
        raise ConfigurationError(
            f'accelerator is "{settings.accelerator}", but PyTorch {torch.__version__}, built {build}, finds no GPU: '
            'choose "auto" or "cpu", or install a driver and a build of PyTorch for your GPU'
        )


def check_devices(settings: Training) -> None:
    """Raise ConfigurationError as `check_accelerator` does, and if there are fewer devices than training asks for."""
    check_accelerator(settings)
    devices = settings.devices
    most, kind = _existing_devices(settings)
    if devices > most and not launched_processes():
        raise ConfigurationError(f"devices is {devices}, but this process may use {most} {kind}: give at most {most}")


def on_existing_devices(settings: Training) -> Training:
    """Return settings with at most as many devices as this process may use; an update has the same batches."""
    batches = settings.batches_per_update or settings.devices
    most = min(settings.devices, _existing_devices(settings)[0])
    devices = max(number for number in range(1, most + 1) if batches % number == 0)
    return msgspec.structs.replace(settings, devices=devices, batches_per_update=batches)


def _existing_devices(settings: Training) -> tuple[int, str]:
    """Return the number of devices that this process may use, and their kind."""
    on_gpu = settings.accelerator != "cpu" and torch.cuda.is_available()
    return (torch.cuda.device_count(), "GPUs") if on_gpu else (available_cores(), "cores")


def launch(fabric: "Fabric", function: Callable[..., T], *arguments: Any) -> T:
    """Run a function with Fabric in all processes; returns the result of the first.

    The first of the `PASSED_ON` errors of spawned processes is raised here as itself.
    """
    result: T
    if fabric.world_size == 1 or launched_processes():
        result = fabric.launch(function, *arguments)
        return result
    errors: SimpleQueue[Exception] = get_context("spawn").SimpleQueue()
    try:
        result = fabric.launch(partial(_passing_on, errors, function), *arguments)
        return result
    except ProcessException:
        if errors.empty():
            raise
        raise errors.get() from None


def _passing_on(errors: "SimpleQueue[Exception]", function: Callable[..., T], *arguments: Any) -> T:
    """Run a function in a spawned process, of whose errors PyTorch passes on only the text."""
    try:
        return function(*arguments)
    except PASSED_ON as error:
        errors.put(error)
        raise


def compile_layers(network: TranslationNetwork) -> None:
    """Let PyTorch compile the layers that gain from it, once for batches of all sizes."""
    for layer in network.layers_to_compile():
        layer.compile(dynamic=True)


def make_dropouts(model: Model, scale: float = 1.0) -> Dropouts:
    """Return the dropout rates of a configuration, multiplied by `scale`."""
    return Dropouts(scale * model.dropout, scale * model.attention_dropout, scale * model.feed_forward_dropout)


def make_optimizer(parameters: Iterable[Tensor]) -> Optimizer:
    """Return Adam with the settings of Vaswani et al. 2017, section 5.3; `step` sets its learning rate."""
    return torch.optim.Adam(parameters, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


def share_of_epoch(
    fabric: "Fabric",
    architecture: Architecture,
    pairs: Sequence[Pair],
    token_budget: int,
    order: int,
    done: int,
    together: int | None = None,
) -> Iterator[tuple[list[Batch], int, int]]:
    """Yield this process's batches of each update, for the rest of an epoch.

    Batches and their order depend on the seed `order` only. If the number of batches is not a multiple of those of an
    update, the last few are skipped; other epochs skip others.

    Args:
        fabric: device and processes.
        architecture: of the network that reads the batches.
        pairs: the training text.
        token_budget: largest number of tokens in a batch, padding counted.
        order: seed of the batches of this epoch and their order.
        done: number of batches of the epoch that are done, by all processes together.
        together: number of batches of an update, a multiple of the number of processes; None: one for each.

    Yields:
        Batches, the number of target tokens in the batches of all processes, and `done` after these.

    Raises:
        DataError: there are fewer batches than an update needs.
    """
    lengths = [(len(source) + 1, len(target) + 1) for source, target in pairs]
    plan = make_batches(lengths, token_budget, order)
    count = together or fabric.world_size
    if len(plan) < count:
        raise DataError(
            f"the training text makes {len(plan)} batches, an update needs {count}: train with fewer devices or "
            "batches_per_update, or with fewer tokens in a batch"
        )
    for start in range(done, len(plan) - count + 1, count):
        group = plan[start : start + count]
        total = sum(lengths[index][1] for indices in group for index in indices)
        mine = group[fabric.global_rank :: fabric.world_size]
        batches = [make_batch([pairs[index] for index in each], architecture, str(fabric.device)) for each in mine]
        yield batches, total, start + count


def endless_batches(
    fabric: "Fabric", architecture: Architecture, pairs: Sequence[Pair], token_budget: int, seed: int
) -> Iterator[Batch]:
    """Yield this process's batches of the text, epoch after epoch, in an order that depends on the seed only."""
    for epoch in count():
        for batches, _, _ in share_of_epoch(fabric, architecture, pairs, token_budget, seed * 10_007 + epoch, 0):
            yield from batches


def seed_update(fabric: "Fabric", seed: int, update: int, part: int = 0) -> None:
    """Seed PyTorch for a batch of an update.

    So its dropout is the same whether or not the run was interrupted, and on any number of devices, unless memory ran
    out and batches were halved.

    Args:
        fabric: this process.
        seed: of the run.
        update: number of the update.
        part: index of the batch among those of this process.
    """
    batch = fabric.global_rank + part * fabric.world_size
    torch.manual_seed(((seed * 1_000_003 + update) * 1_009 + batch) % SEED_LIMIT)


def backward(fabric: "Fabric", loss: Tensor, total_tokens: int) -> None:
    """Compute the gradients of a summed loss, divided by the number of target tokens of all processes.

    Fabric averages gradients over processes, so the loss is also multiplied by the number of processes.
    """
    fabric.backward(loss * (fabric.world_size / total_tokens))


def step(fabric: "Fabric", model: nn.Module, optimizer: Optimizer, rate: float, clip_norm: float) -> None:
    """Clip the norm of the gradients, take an optimizer step at a learning rate, and drop the gradients.

    If a gradient is not finite, all processes raise DivergedError before the step.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate
    norm = fabric.clip_gradients(model, optimizer, max_norm=clip_norm, error_if_nonfinite=False)
    if norm is None or not bool(norm.isfinite()):
        raise DivergedError("training diverged, a gradient is not finite: lower the learning rate or warm it up longer")
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
