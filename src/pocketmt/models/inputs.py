"""Inputs of networks: padded ids of pieces, with what stands before and behind a sentence."""

from array import array
from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from pocketmt.model_file.architecture import Architecture

PADDING: Final = -1  # behind the shorter texts of a batch; a vocabulary may have no piece for it
ZERO: Final = -2  # a vector of zeros instead of an embedded piece


def pad(sequences: Sequence[Sequence[int]], device: torch.device | str = "cpu") -> Tensor:
    """Return sequences of ids as one tensor [B, longest], padded at their ends."""
    longest = max(map(len, sequences))
    if longest == 0:
        return torch.empty(len(sequences), 0, dtype=torch.int64, device=device)
    ids = array("q")  # PyTorch takes several times as long to read a list.
    for sequence in sequences:
        ids.extend(sequence)
        ids.extend([PADDING] * (longest - len(sequence)))
    return torch.frombuffer(ids, dtype=torch.int64).view(len(sequences), longest).to(device)


def encoder_input(architecture: Architecture, source: Sequence[int]) -> list[int]:
    """Return what the encoder reads for the pieces of a source."""
    return [*source, architecture.source_special_ids.eos] if architecture.append_source_eos else [*source]


def first_decoder_input(architecture: Architecture) -> int:
    """Return what the decoder reads before the first target piece: its id, or ZERO."""
    first = architecture.first_input_id
    return ZERO if first is None else first


def decoder_input(architecture: Architecture, target: Sequence[int]) -> list[int]:
    """Return what the decoder reads for the pieces of a target, by teacher forcing."""
    return [first_decoder_input(architecture), *target]
