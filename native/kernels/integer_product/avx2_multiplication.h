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

// 32 weights of up to 8 bits with a sign, for any activations. Of four inputs the first and third, and the second and
// fourth, are multiplied as 16-bit numbers.
struct WordWeights {
    using OfAnyActivations = WordWeights;
    static constexpr int32_t zero = 0;
    __m256i even, odd;

    explicit WordWeights(__m256i loaded)
        : even(_mm256_srai_epi16(_mm256_slli_epi16(loaded, 8), 8)), odd(_mm256_srai_epi16(loaded, 8)) {}
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        const WordWeights activations(four);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(even, activations.even));
        return _mm256_add_epi32(sum, _mm256_madd_epi16(odd, activations.odd));
    }
};

// 32 weights of up to 8 bits with a sign, for activations in [-127, 127]: |weight| times activation with the weight's
// sign, of which two are at most 2 * 128 * 127. An activation of -128 has no positive counterpart.
struct SignedWeights {
    using OfAnyActivations = WordWeights;
    static constexpr int32_t zero = 0;
    __m256i weights, magnitudes;

    explicit SignedWeights(__m256i loaded) : weights(loaded), magnitudes(_mm256_abs_epi8(loaded)) {}
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        return add_pairs(sum, _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(four, weights)));
    }
};

// 32 codes of 6 bits, weight + zero: two products with activations are at most 2 * 63 * 128.
struct SixBitCodes {
    using OfAnyActivations = SixBitCodes;
    static constexpr int32_t zero = six_bit_zero;
    __m256i codes;

    explicit SixBitCodes(__m256i loaded) : codes(loaded) {}
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        return add_pairs(sum, _mm256_maddubs_epi16(codes, four));
    }
};

}  // namespace
}  // namespace pocketmt
