// 8-bit and 6-bit products with vpdpbusd on 256-bit registers, compiled for each of its two encodings: that of
// AVX-VNNI, and that of AVX-512, by which a CPU that has no other can test them.
#pragma once

#include "integer_product/avx2_product.h"

namespace pocketmt {
namespace {

// 32 weights, each + `offset`, which makes it unsigned.
template <int32_t offset>
struct OffsetWeights {
    static constexpr int32_t zero = offset;
    __m256i weights;

    explicit OffsetWeights(__m256i loaded) : weights(loaded) {}
    POCKETMT_INLINE static __m256i first_sums(const int32_t*, size_t, int32_t activation_sum) {
        return _mm256_set1_epi32(-zero * activation_sum);
    }
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
#if defined(__AVXVNNI__)
        return _mm256_dpbusd_avx_epi32(sum, weights, four);
#else
        return _mm256_dpbusd_epi32(sum, weights, four);
#endif
    }
};

using OffsetBytes = OffsetWeights<128>;

constexpr IntegerProduct avx_vnni_integer_product = {
    BytePanels<OffsetBytes::zero>::packed_bytes, BytePanels<OffsetBytes::zero>::pack,
    BytePanels<OffsetBytes::zero>::unpack_row, BytePanels<OffsetBytes::zero>::gather,
    multiply_integers<ByteWeights<OffsetBytes>>};
constexpr IntegerProduct avx_vnni_six_bit_product = {SixBitPanels::packed_bytes, SixBitPanels::pack,
                                                     SixBitPanels::unpack_row, SixBitPanels::gather,
                                                     multiply_integers<SixBitWeights<OffsetWeights<six_bit_zero>>>};

}  // namespace
}  // namespace pocketmt
