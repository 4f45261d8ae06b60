"""Whole numbers in few bits are decoded to the same numbers."""

import pytest
import torch
from torch import Tensor

from pocketmt.packing.reference.packed_numbers import PackedNumbers


def stored_bytes(packed: PackedNumbers) -> int:
    """Bytes of the numbers without the table."""
    return max(buffer.numel() for name, buffer in packed.named_buffers() if name == "_stored")


@pytest.mark.parametrize("columns", [1, 7, 8, 33])
@pytest.mark.parametrize(
    ("values", "bits"), [([1], 1), ([0, 1], 1), ([-1, 0, 1], 2), (range(-8, 8), 4), ([-128, 127, *range(14)], 4)]
)
def test_few_values_share_bytes(values: list[int], bits: int, columns: int) -> None:
    draw = torch.Generator().manual_seed(columns)
    numbers: Tensor = torch.tensor(list(values))[torch.randint(len(values), (5, columns), generator=draw)].float()
    numbers.view(-1)[: len(values)] = torch.tensor(list(values))[: numbers.numel()].float()
    packed = PackedNumbers(numbers)
    assert packed.numbers().dtype == torch.int8
    assert torch.equal(packed.numbers().float(), numbers)
    if columns > 3:  # All values are there.
        assert stored_bytes(packed) == 5 * -(-columns * bits // 8)


def test_many_values_take_a_byte_each() -> None:
    numbers = torch.arange(-8, 9).float()[None]
    packed = PackedNumbers(numbers)
    assert torch.equal(packed.numbers().float(), numbers)
    assert stored_bytes(packed) == 17
