// The 6-bit weights of a step, as the registers multiply them.
#pragma once

#include "integer_product/call.h"
#include "integer_product/six_bit_panels.h"
#include "integer_product/tile.h"

namespace pocketmt {
namespace {

// 6-bit weights: the low 4 bits of a code, and the high 2, which are shifted to bits 4 and 5.
struct SixBitWeights {
    using Products = Registers::SixBitWeights;
    static constexpr size_t step_bytes = six_bit_step_bytes, read_ahead = step_bytes;
    static constexpr bool decoded = true;

    explicit SixBitWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Products load(const uint8_t* step) const {
        constexpr size_t high_parts = six_bit_high_bytes / part_bytes;
        constexpr int high_shift = static_cast<int>(group * 2 + part / high_parts) * 2;
        const auto low = Registers::nibbles<group>(Registers::load(step + part * part_bytes));
        const auto high = Registers::load(step + six_bit_low_bytes + part % high_parts * part_bytes);
        return Products(Registers::insert(low, Registers::shifted<4 - high_shift>(high), 48));
    }
};

}  // namespace
}  // namespace pocketmt
