// AVX2 with FMA. Its byte multiplication, vpmaddubsw, multiplies unsigned by signed bytes and adds pairs of products in
// 16 bits, which must not saturate.
#pragma once

#include "registers/x86_256_bit.h"

namespace pocketmt {
namespace {

struct Registers : Registers256 {
    static constexpr CpuRequirements requirements{{has_avx, has_fma, has_avx2}, saves_avx};

    static constexpr size_t expanding_rows = 16;

    // 32 weights from -128 to 127: |weight| times the activation where the weight is positive, else times the
    // activation's complement, -activation - 1. The sums therefore begin with the magnitudes of the negative weights.
    // Two products are at least -2 * 128 * 128 and at most 2 * 128 * 127, which 16 bits hold.
    struct SignedWeights {
        static constexpr int32_t zero = 0;
        __m256i magnitudes, negative;

        SignedWeights() = default;
        explicit SignedWeights(Bytes weights)
            : magnitudes(_mm256_abs_epi8((__m256i)weights)),
              negative(_mm256_cmpgt_epi8(_mm256_setzero_si256(), (__m256i)weights)) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t* negative_sums, size_t output, int32_t) {
            return load(negative_sums + output);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
            add_pairs(sums, _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256((__m256i)inputs, negative)));
        }
    };

    // 32 codes of 6 bits: two products are at most 2 * 63 * 128.
    struct SixBitWeights {
        static constexpr int32_t zero = 32;
        __m256i codes;

        SixBitWeights() = default;
        explicit SixBitWeights(Bytes given) : codes((__m256i)given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
            add_pairs(sums, _mm256_maddubs_epi16(codes, (__m256i)inputs));
        }
    };

  private:
    POCKETMT_INLINE static void add_pairs(Integers& sums, __m256i pairs) {
        sums += (Integers)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    }
};

}  // namespace
}  // namespace pocketmt
