// How AVX2 adds products of bytes to 32-bit sums: vpmaddubsw multiplies unsigned by signed bytes and adds pairs in 16
// bits, which must not saturate.
#pragma once

#include "integer_product/avx2_operations.h"
#include "integer_product/six_bit_panels.h"

namespace pocketmt {
namespace {

// sum + pairs of 16-bit products.
POCKETMT_INLINE __m256i add_pairs(__m256i sum, __m256i pairs) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// 32 weights of up to 8 bits with a sign: |weight| times activation where the weight is positive, else times the
// activation's complement, -activation - 1, for which sums begin with the magnitudes of the negative weights. Two
// products are at least -2 * 128 * 128 and at most 2 * 128 * 127, which 16 bits hold.
struct SignedWeights {
    static constexpr int32_t zero = 0;
    __m256i magnitudes, negative;

    explicit SignedWeights(__m256i loaded)
        : magnitudes(_mm256_abs_epi8(loaded)), negative(_mm256_cmpgt_epi8(_mm256_setzero_si256(), loaded)) {}
    POCKETMT_INLINE static __m256i first_sums(const int32_t* negative_sums, size_t output, int32_t) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(negative_sums + output));
    }
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        return add_pairs(sum, _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(four, negative)));
    }
};

// 32 codes of 6 bits, weight + zero: two products with activations are at most 2 * 63 * 128.
struct SixBitCodes {
    static constexpr int32_t zero = six_bit_zero;
    __m256i codes;

    explicit SixBitCodes(__m256i loaded) : codes(loaded) {}
    POCKETMT_INLINE static __m256i first_sums(const int32_t*, size_t, int32_t activation_sum) {
        return _mm256_set1_epi32(-zero * activation_sum);
    }
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        return add_pairs(sum, _mm256_maddubs_epi16(codes, four));
    }
};

}  // namespace
}  // namespace pocketmt
