// 8-bit and 6-bit products with NEON's dot product.
#include "integer_product/neon_tile.h"
#include "integer_product/six_bit_panels.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

// The low 4 bits of a code and the high 2, which come to bits 4 and 5; a code is the weight + six_bit_zero.
struct SixBitWeights {
    static constexpr size_t step_bytes = six_bit_step_bytes;
    explicit SixBitWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE int8x16_t load(const uint8_t* step) const {
        constexpr size_t high_parts = six_bit_high_bytes / part_bytes;
        constexpr int high_shift = static_cast<int>(group * 2 + part / high_parts) * 2;
        const uint8x16_t pairs = vld1q_u8(step + part * part_bytes);
        const uint8x16_t low = group == 0 ? vandq_u8(pairs, vdupq_n_u8(15)) : vshrq_n_u8(pairs, 4);
        uint8x16_t high = vld1q_u8(step + six_bit_low_bytes + part % high_parts * part_bytes);
        if constexpr (high_shift < 4) high = vshlq_n_u8(high, 4 - high_shift);
        if constexpr (high_shift > 4) high = vshrq_n_u8(high, high_shift - 4);
        const uint8x16_t code = vorrq_u8(low, vandq_u8(high, vdupq_n_u8(48)));
        return vsubq_s8(vreinterpretq_s8_u8(code), vdupq_n_s8(six_bit_zero));
    }
};

template <class Weights>
void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(packed), Weights::step_bytes, nullptr, rows,
                                          columns, activations, epilogue, outputs);
    multiply_panels(call, count, tiles<Weights>);
}

}  // namespace

const IntegerProduct integer_product = {BytePanels<0>::packed_bytes, BytePanels<0>::pack, BytePanels<0>::unpack_row,
                                        BytePanels<0>::gather, multiply<ByteWeights>};
const IntegerProduct six_bit_product = {SixBitPanels::packed_bytes, SixBitPanels::pack, SixBitPanels::unpack_row,
                                        SixBitPanels::gather, multiply<SixBitWeights>};

}  // namespace pocketmt::neon_dot_product
