"""Memory of a device, and what a sentence needs of it."""

from collections.abc import Sequence

import torch

from pocketmt.decoding.requests import SearchSettings
from pocketmt.decoding.slots import Slots, SlotShape
from pocketmt.models.network import TranslationNetwork

_LOGIT_COPIES = 4  # Logits, their log-probabilities, and room for the search.


def free_bytes(device: torch.device) -> int:
    """Return the free memory of a GPU, with what PyTorch holds there without using it."""
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + unused


def bytes_of_place(networks: Sequence[TranslationNetwork], settings: SearchSettings, source: int, target: int) -> int:
    """Return about how many bytes the decoding of a sentence of these lengths needs."""
    states = Slots(networks, settings, SlotShape(1, source, target), capture=False).bytes
    logits = settings.beam_size * networks[0].architecture.vocabulary_size * 4 * (_LOGIT_COPIES + len(networks))
    return 2 * states + logits  # Copies of the states are made where hypotheses change places.
