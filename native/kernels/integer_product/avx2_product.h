// 8-bit and 6-bit products on 256-bit registers.
#pragma once

#include "integer_product/avx2_tile.h"
#include "integer_product/six_bit_panels.h"

namespace pocketmt {
namespace {

// The low 4 bits of a code and the high 2, which come to bits 4 and 5.
template <class Products>
struct SixBitWeights {
    using Loaded = Products;
    static constexpr size_t step_bytes = six_bit_step_bytes;
    const __m256i low_mask = _mm256_set1_epi8(15);
    const __m256i high_mask = _mm256_set1_epi8(48);

    explicit SixBitWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Loaded load(const uint8_t* step) const {
        constexpr int high_shift = static_cast<int>(group * 2 + part / 2) * 2;
        __m256i low = loaded(step + part * part_bytes);
        if constexpr (group == 1) low = _mm256_srli_epi16(low, 4);
        __m256i high = loaded(step + six_bit_low_bytes + part % 2 * part_bytes);
        if constexpr (high_shift < 4) high = _mm256_slli_epi16(high, 4 - high_shift);
        if constexpr (high_shift > 4) high = _mm256_srli_epi16(high, high_shift - 4);
        return Loaded(_mm256_or_si256(_mm256_and_si256(low, low_mask), _mm256_and_si256(high, high_mask)));
    }

  private:
    POCKETMT_INLINE static __m256i loaded(const uint8_t* bytes) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    }
};

template <class Weights>
void multiply_integers(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                       size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(packed), Weights::step_bytes, nullptr, rows,
                                          columns, activations, epilogue, outputs);
    multiply_panels(call, count, tiles<Weights>);
}

}  // namespace
}  // namespace pocketmt
