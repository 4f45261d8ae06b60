// AVX2 with VNNI, whose vpdpbusd multiplies unsigned by signed bytes and adds four products to 32 bits. A compiler that
// targets AVX-512 VNNI takes its encoding of the same instruction, so that a processor without AVX-VNNI can test this.
#pragma once

#include "registers/x86_256_bit.h"

namespace pocketmt {
namespace {

struct Registers : Registers256 {
#if defined(__AVXVNNI__)
    static constexpr CpuRequirements requirements{{has_avx, has_fma, has_avx2, has_avx_vnni}, saves_avx};
#else
    static constexpr CpuRequirements requirements{
        {has_avx, has_fma, has_avx2, has_avx512f, has_avx512vl, has_avx512_vnni}, saves_avx512};
#endif

    // Measured on Zen 5.
    static constexpr size_t expanding_six_bit_rows = 20;
    static constexpr bool reads_far_ahead = true;
    static constexpr size_t batch_rows = 24;
    static constexpr size_t whole_decoded_panel_rows = 2;  // GCC 12 keeps sums of 3 rows in memory.

    // 32 weights, stored as weight + offset, which is not negative.
    template <int32_t offset>
    struct OffsetWeights {
        static constexpr int32_t zero = offset;
        __m256i weights;

        OffsetWeights() = default;
        explicit OffsetWeights(Bytes given) : weights((__m256i)given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
#if defined(__AVXVNNI__)
            sums = (Integers)_mm256_dpbusd_avx_epi32((__m256i)sums, weights, (__m256i)inputs);
#else
            sums = (Integers)_mm256_dpbusd_epi32((__m256i)sums, weights, (__m256i)inputs);
#endif
        }
    };
    using SignedWeights = OffsetWeights<128>;
    using SixBitWeights = OffsetWeights<32>;
};

}  // namespace
}  // namespace pocketmt
