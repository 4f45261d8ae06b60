// Rows of codes of 1 to 8 bits, lowest bits first, read and written eight codes at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pocketmt {

// Calls use(i, codes) with codes 8 i to 8 i + 7 of a row; those beyond the end are those of the bits that are left in
// the last byte, or 0.
template <class Use>
void for_eight_codes(const uint8_t* row, size_t count, size_t bits, Use&& use) {
    const size_t row_bytes = (count * bits + 7) / 8;
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    for (size_t eight = 0; eight * 8 < count; ++eight) {
        uint64_t word = 0;
        const size_t left = row_bytes - eight * bits;
        if (left >= sizeof word) {  // Of a constant size, which is one load.
            std::memcpy(&word, row + eight * bits, sizeof word);
        } else {
            std::memcpy(&word, row + eight * bits, std::min(bits, left));
        }
        std::array<uint8_t, 8> codes;
        for (size_t code = 0; code < codes.size(); ++code)
            codes[code] = static_cast<uint8_t>(word >> (code * bits) & mask);
        use(eight, codes);
    }
}

// Bit i of a byte as the lowest bit of nibble i.
constexpr uint32_t spread_bits(uint32_t byte) {
    const uint32_t fours = (byte | byte << 12) & 0x000f000fu;
    const uint32_t pairs = (fours | fours << 6) & 0x03030303u;
    return (pairs | pairs << 3) & 0x11111111u;
}

// Writes eight nibbles as nibbles 8 i to 8 i + 7 of a row, or as many of them as it has.
inline void store_nibbles(uint32_t nibbles, size_t i, uint8_t* row, size_t row_bytes) {
    const size_t left = row_bytes - i * sizeof nibbles;
    if (left >= sizeof nibbles) {  // Of a constant size, which is one store.
        std::memcpy(row + i * sizeof nibbles, &nibbles, sizeof nibbles);
    } else {
        std::memcpy(row + i * sizeof nibbles, &nibbles, left);
    }
}

}  // namespace pocketmt
