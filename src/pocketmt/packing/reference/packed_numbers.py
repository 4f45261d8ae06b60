"""Whole numbers of few values in few bits each: weights of few bits stay small in the memory of a GPU."""

from typing import Final

import torch
from torch import Tensor, nn

_BITS: Final = (1, 2, 4)  # Of a number that shares a byte with others.


class PackedNumbers(nn.Module):
    """A matrix of whole numbers; those of at most 2, 4 or 16 values share bytes, and a table says what a byte is.

    They are decoded by one look-up for each byte, and never wait for the device.
    """

    _stored: Tensor  # uint8 [rows, bytes of a row]; without a table, the numbers themselves as int8 [rows, columns]
    _table: Tensor | None  # int8 [256, numbers of a byte]

    def __init__(self, numbers: Tensor) -> None:
        """Take whole numbers in [-128, 127], of any dtype [rows, columns]."""
        super().__init__()
        numbers = numbers.to(torch.int8)
        self.columns = numbers.shape[1]
        values, codes = torch.unique(numbers, return_inverse=True)
        bits = next((each for each in _BITS if len(values) <= 2**each), None)
        self.register_buffer("_stored", numbers if bits is None else _packed(codes, bits))
        self.register_buffer("_table", None if bits is None else _table(values, bits))

    def numbers(self) -> Tensor:
        """Return int8 [rows, columns]."""
        if self._table is None:
            return self._stored
        found = self._table.index_select(0, self._stored.flatten().int())
        return found.view(len(self._stored), -1)[:, : self.columns]


def _packed(codes: Tensor, bits: int) -> Tensor:
    """Pack codes [rows, columns], the first in the lowest bits; uint8 [rows, bytes]."""
    count = 8 // bits
    padded = nn.functional.pad(codes, (0, -codes.shape[1] % count))
    parts = padded.view(len(codes), padded.shape[1] // count, count)
    return (parts << _shifts(bits, codes.device)).sum(dim=-1).to(torch.uint8)


def _table(values: Tensor, bits: int) -> Tensor:
    """Return the numbers that each byte stands for, int8 [256, 8 / bits]."""
    padded = nn.functional.pad(values, (0, 2**bits - len(values)))
    every = torch.arange(256, device=values.device)[:, None]
    return padded[(every >> _shifts(bits, values.device)) & (2**bits - 1)]


def _shifts(bits: int, device: torch.device) -> Tensor:
    return torch.arange(0, 8, bits, device=device)
