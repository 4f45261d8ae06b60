"""Memory of a device, and what a sentence needs of it."""

from collections.abc import Sequence
from typing import Final

import torch

from pocketmt.decoding.requests import SearchSettings
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.models.network import TranslationNetwork

_LOGIT_COPIES: Final = 4  # Logits, their log-probabilities, and room for the search.
_COMMON_POOL: Final = (0, 0)  # The identifier of the memory that all tensors share but those of captured graphs.


def unused_bytes(device: torch.device) -> int:
    """Return the memory of a GPU that no program holds."""
    return int(torch.cuda.mem_get_info(device)[0])


def free_bytes(device: torch.device) -> int:
    """Return the free memory of a GPU, with what PyTorch holds there for any tensor without using it.

    Memory that PyTorch holds for a captured graph does not count, as only that graph uses it, until it is deleted.
    """
    index = torch.cuda.current_device() if device.index is None else device.index
    unused = sum(
        segment["total_size"] - segment["allocated_size"]
        for segment in torch.cuda.memory_snapshot()  # type: ignore[no-untyped-call]
        if segment["device"] == index and tuple(segment["segment_pool_id"]) == _COMMON_POOL
    )
    return unused_bytes(device) + int(unused)


def bytes_of_place(networks: Sequence[TranslationNetwork], settings: SearchSettings, source: int, target: int) -> int:
    """Return about how many bytes the decoding of a sentence of these lengths needs."""
    states = Slots(networks, settings, SlotShape(1, source, target), capture=False).bytes
    logits = settings.beam_size * networks[0].architecture.vocabulary_size * 4 * (_LOGIT_COPIES + len(networks))
    return 2 * states + logits  # Copies of the states are made where hypotheses change places.
