import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.model_file.matrices.bit_packing import pack_codes, unpack_codes
from pocketmt.model_file.matrices.packed_bits import unpack_indices, unused_bits

SHAPES = st.lists(st.integers(1, 4), max_size=2).flatmap(
    lambda outer: st.integers(1, 19).map(lambda columns: (*outer, columns))
)


@given(shape=SHAPES, bits=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_packing_comes_back(shape: tuple[int, ...], bits: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 2**bits, shape, dtype=np.uint8)
    packed = pack_codes(codes, bits)
    assert packed.shape == (*shape[:-1], -(-shape[-1] * bits // 8))
    assert np.array_equal(unpack_codes(packed, shape[-1], bits), codes)


@given(columns=st.integers(1, 19), bits=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_a_code_is_its_bits_counted_from_the_rows_first(columns: int, bits: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 2**bits, (1, columns), dtype=np.uint8)
    number = int.from_bytes(pack_codes(codes, bits).tobytes(), "little")
    assert [number >> column * bits & 2**bits - 1 for column in range(columns)] == codes[0].tolist()
    assert number >> columns * bits == 0


def test_of_four_bits_the_even_column_is_the_low_nibble() -> None:
    codes = np.array([[1, 2, 15], [0, 9, 3]], dtype=np.uint8)
    assert pack_codes(codes, 4).tolist() == [[0x21, 0x0F], [0x90, 0x03]]


def test_of_three_bits_a_code_may_lie_in_two_bytes() -> None:
    # 1, 2, 7, 5: 001, 010, 111, 101 from the right: 1011 11010001.
    assert pack_codes(np.array([[1, 2, 7, 5]], dtype=np.uint8), 3).tolist() == [[0b11010001, 0b1011]]


@pytest.mark.parametrize("bits", range(1, 8))
def test_a_code_of_more_bits_is_refused(bits: int) -> None:
    with pytest.raises(ValueError, match=f"the code {2**bits} does not fit in {bits} bits"):
        pack_codes(np.array([[2**bits]], dtype=np.uint8), bits)


@given(count=st.integers(1, 40), bits=st.sampled_from([1, 2, 4]), seed=st.integers(0, 2**32 - 1))
def test_indices_come_back_without_numpy(count: int, bits: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 2**bits, (1, count), dtype=np.uint8)
    assert unpack_indices(pack_codes(codes, bits).tobytes(), count, bits) == codes.tobytes()


@given(rows=st.integers(1, 4), columns=st.integers(1, 19), bits=st.integers(1, 8), data=st.data())
def test_every_bit_after_the_last_code_is_noticed(rows: int, columns: int, bits: int, data: st.DataObject) -> None:
    packed = pack_codes(np.full((rows, columns), 2**bits - 1, dtype=np.uint8), bits)
    row_bytes = packed.shape[1]
    assert not unused_bits(memoryview(packed.tobytes()), row_bytes, columns, bits)
    unused = 8 * row_bytes - columns * bits
    if unused:
        row, bit = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(1, unused))
        packed[row, -1] |= 1 << 8 - bit
        assert unused_bits(memoryview(packed.tobytes()), row_bytes, columns, bits)
