import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.model_file.bit_packing import pack_nibbles, unpack_nibbles


@given(rows=st.integers(1, 5), columns=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
def test_packing_comes_back(rows: int, columns: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 16, (rows, columns), dtype=np.uint8)
    packed = pack_nibbles(codes)
    assert packed.shape == (rows, (columns + 1) // 2)
    assert np.array_equal(unpack_nibbles(packed, columns), codes)


def test_the_even_column_is_the_low_nibble_and_the_last_odd_one_empty() -> None:
    codes = np.array([[1, 2, 15], [0, 9, 3]], dtype=np.uint8)
    assert pack_nibbles(codes).tolist() == [[0x21, 0x0F], [0x90, 0x03]]


def test_a_code_of_five_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="16 does not fit in 4 bits"):
        pack_nibbles(np.array([[16]], dtype=np.uint8))
