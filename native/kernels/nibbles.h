// Words of 4-bit codes with a byte for each code. Only sources that are compiled once, for the baseline instruction
// set, include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "panel_layout.h"
#include "shapes.h"

namespace pocketmt {
namespace {

// Four codes of 4 bits as bytes, the lowest first.
constexpr uint32_t spread_nibbles(uint32_t codes) {
    const uint32_t pairs = (codes | codes << 8) & 0x00ff00ffu;
    return (pairs | pairs << 4) & 0x0f0f0f0fu;
}

// Eight codes of 4 bits as bytes.
constexpr uint64_t spread_eight_nibbles(uint32_t codes) {
    const uint64_t halves = (codes | uint64_t{codes} << 16) & 0x0000ffff0000ffffu;
    const uint64_t pairs = (halves | halves << 8) & 0x00ff00ff00ff00ffu;
    return (pairs | pairs << 4) & 0x0f0f0f0f0f0f0f0fu;
}

// Codes `first` to `first + 7` of a row of `columns` codes, two in a byte, the lowest in the lowest bits; those beyond
// the end are 0. `first` is a multiple of 8.
inline uint32_t eight_nibbles(const uint8_t* row, size_t columns, size_t first) {
    uint32_t codes = 0;
    if (first + 8 <= columns) {
        std::memcpy(&codes, row + first / 2, sizeof codes);
        return codes;
    }
    if (first >= columns) return 0;
    std::memcpy(&codes, row + first / 2, ceil_divide(columns - first, 2));
    return codes & ((uint32_t{1} << (4 * (columns - first))) - 1);
}

// The negative parts of the levels of two codes, for each byte of two codes.
class NegativePairSums {
  public:
    explicit NegativePairSums(const int8_t* levels) {
        int32_t negative[16];
        for (size_t code = 0; code < 16; ++code) negative[code] = negative_part(levels[code]);
        for (size_t pair = 0; pair < 256; ++pair) sums_[pair] = negative[pair & 15u] + negative[pair >> 4];
    }
    int32_t of_eight(uint32_t codes) const {
        return sums_[codes & 255u] + sums_[codes >> 8 & 255u] + sums_[codes >> 16 & 255u] + sums_[codes >> 24];
    }

  private:
    int32_t sums_[256];
};

}  // namespace
}  // namespace pocketmt
