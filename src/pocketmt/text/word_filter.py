"""A set of words in few bytes: a Bloom filter (Bloom 1970), which tells of a few other words that it has them."""

import zlib
from collections.abc import Collection
from typing import Final

BITS_OF_WORD: Final = 16
HASHES: Final = 8  # With 16 bits a word, 0.06 % of other words are taken for words of the set.
_32_BITS: Final = 0xFFFFFFFF


class WordFilter:
    """A set of words to which none can be added.

    Attributes:
        bits: eight in a byte, the lowest first.
        hashes: bits that a word sets.
    """

    def __init__(self, bits: bytes, hashes: int) -> None:
        self.bits = bits
        self.hashes = hashes

    @classmethod
    def of(cls, words: Collection[str]) -> "WordFilter":
        """Return the set of some words, in `BITS_OF_WORD` bits a word."""
        bits = bytearray(max(len(words), 1) * BITS_OF_WORD // 8)
        for word in words:
            for place in _places(word, len(bits) * 8, HASHES):
                bits[place >> 3] |= 1 << (place & 7)
        return cls(bytes(bits), HASHES)

    def __contains__(self, word: str) -> bool:
        return all(self.bits[place >> 3] >> (place & 7) & 1 for place in _places(word, len(self.bits) * 8, self.hashes))


def _places(word: str, size: int, hashes: int) -> list[int]:
    """Return the bits of a word, by double hashing (Kirsch and Mitzenmacher 2006)."""
    checksum = zlib.crc32(word.encode("utf-8", "surrogatepass"))
    first, step = _mixed(checksum), _mixed(checksum ^ 0x9E3779B9) | 1
    return [(first + index * step) % size for index in range(hashes)]


def _mixed(value: int) -> int:
    """Return 32 bits that all depend on all bits of a value: the last steps of MurmurHash3."""
    value = (value ^ value >> 16) * 0x85EBCA6B & _32_BITS
    value = (value ^ value >> 13) * 0xC2B2AE35 & _32_BITS
    return value ^ value >> 16
