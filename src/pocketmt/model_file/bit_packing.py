"""Codes of fewer than eight bits, packed into bytes as the model file holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # reading and inspecting a model file needs no NumPy
    import numpy as np
    from numpy.typing import NDArray


def pack_nibbles(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pack 4-bit codes, two a byte, low nibble first.

    Args:
        codes: uint8 [rows, columns], each below 16.

    Returns:
        uint8 [rows, ceil(columns / 2)]; the last high nibble is 0 where columns are odd.
    """
    import numpy as np

    if codes.size and int(codes.max()) > 15:
        raise ValueError(f"the code {int(codes.max())} does not fit in 4 bits")
    packed = np.zeros((codes.shape[0], (codes.shape[1] + 1) // 2), dtype=np.uint8)
    packed |= codes[:, 0::2]
    packed[:, : codes.shape[1] // 2] |= codes[:, 1::2] << 4
    return packed


def unpack_nibbles(packed: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """Undo `pack_nibbles`: uint8 [rows, ceil(columns / 2)] -> uint8 [rows, columns]."""
    import numpy as np

    codes = np.empty((packed.shape[0], 2 * packed.shape[1]), dtype=np.uint8)
    codes[:, 0::2] = packed & 15
    codes[:, 1::2] = packed >> 4
    return codes[:, :columns]
