"""What every loop over updates does in the same way: batches shared by processes, seeds, gradients, optimizer."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.optim import Optimizer

from pocketmt.errors import DataError, PocketMTError
from pocketmt.models.dropout import Dropouts
from pocketmt.text.batching import make_batches
from pocketmt.training.configuration import Model, Training
from pocketmt.training.data import Batch, Pair, make_batch

LARGEST_SEED: Final = 1 << 63  # of PyTorch's generator, whose seeds are below it


class DivergedError(PocketMTError):
    """Training has left the numbers that floats can hold."""


def make_fabric(settings: Training) -> Fabric:
    """Return what runs the same code on CPU or GPU, in one process or several."""
    return Fabric(
        accelerator=settings.accelerator,
        devices=settings.devices,
        strategy="ddp_spawn" if settings.devices > 1 else "auto",
        precision="bf16-mixed" if settings.precision == "bfloat16-mixed" else "32-true",
    )


def make_dropouts(model: Model, scale: float = 1.0) -> Dropouts:
    """Return a configuration's dropout rates, times a factor."""
    return Dropouts(scale * model.dropout, scale * model.attention_dropout, scale * model.feed_forward_dropout)


def make_optimizer(parameters: Iterable[Tensor]) -> Optimizer:
    """Return Adam as Vaswani et al. 2017, section 5.3, have it; its rate is set at each step."""
    return torch.optim.Adam(parameters, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


def share_of_epoch(
    fabric: Fabric, pairs: Sequence[Pair], token_budget: int, order: int, done: int
) -> Iterator[tuple[Batch, int, int]]:
    """Yield this process's batches of what is left of an epoch.

    The order depends on its seed alone. Where batches don't divide by the processes, the epoch's last few are left to
    the next epochs, which draw others.

    Args:
        fabric: knows the processes.
        pairs: the training text.
        token_budget: of one batch.
        order: the seed of the epoch's batches and their order.
        done: batches of the epoch that are done already, of all processes together.

    Raises DataError where there are fewer batches than processes.

    Yields:
        The batch, the target tokens of all processes' batches together, and `done` after them.
    """
    lengths = [(len(source) + 1, len(target) + 1) for source, target in pairs]
    plan = make_batches(lengths, token_budget, order)
    world = fabric.world_size
    if len(plan) < world:
        raise DataError(
            f"the training text makes {len(plan)} batches for {world} processes: "
            "train with fewer devices, or with fewer tokens in a batch"
        )
    for start in range(done, len(plan) - world + 1, world):
        group = plan[start : start + world]
        total = sum(lengths[index][1] for indices in group for index in indices)
        mine = group[fabric.global_rank]
        yield make_batch([pairs[index] for index in mine], str(fabric.device)), total, start + world


def endless_batches(fabric: Fabric, pairs: Sequence[Pair], token_budget: int, seed: int) -> Iterator[Batch]:
    """Yield this process's batches of the text, epoch after epoch, in an order that depends on the seed alone."""
    for epoch in count():
        for batch, _, _ in share_of_epoch(fabric, pairs, token_budget, seed * 10_007 + epoch, 0):
            yield batch


def seed_update(fabric: Fabric, seed: int, update: int) -> None:
    """Seed an update by itself: what dropout draws does not depend on whether the run was ever interrupted."""
    torch.manual_seed(((seed * 1_000_003 + update) * 1_009 + fabric.global_rank) % LARGEST_SEED)


def backward(fabric: Fabric, loss: Tensor, total_tokens: int) -> None:
    """Make the gradients of a summed loss, a token of all processes' batches.

    Processes' gradients are averaged, so that the sum over processes is taken a token here.
    """
    fabric.backward(loss * (fabric.world_size / total_tokens))


def step(fabric: Fabric, model: nn.Module, optimizer: Optimizer, rate: float, clip_norm: float) -> None:
    """Take one optimizer step at a learning rate, with the gradients' norm clipped, and drop the gradients.

    Raises DivergedError, in every process and with nothing moved, where a gradient is not finite.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate
    norm = fabric.clip_gradients(model, optimizer, max_norm=clip_norm, error_if_nonfinite=False)
    if norm is None or not bool(norm.isfinite()):
        raise DivergedError("training diverged, a gradient is not finite: lower the learning rate or warm it up longer")
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
