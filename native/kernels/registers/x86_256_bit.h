// Registers of 256 bits, with AVX2 and FMA: all but the multiplication of bytes.
#pragma once

#include "registers/vectors.h"
#include "registers/x86_features.h"

namespace pocketmt {
namespace {

POCKETMT_INLINE Float8 maximum(Float8 a, Float8 b) {
    return _mm256_max_ps(a, b);
}
POCKETMT_INLINE bool any_greater(Float8 a, Float8 b) {
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0;
}

struct Registers256 : VectorRegisters<8> {
    // There are 16 registers: 12 sums, and the rest for weights and activations.
    static constexpr size_t float_outputs = 32;
    static constexpr size_t float_rows = 3;
    static constexpr size_t integer_rows = 5;
    static constexpr size_t whole_panel_rows = 3;
    static constexpr size_t whole_decoded_panel_rows = 3;
    static constexpr size_t row_lookup_rows = 2;
    static constexpr size_t parts_at_once = 1;
    static constexpr size_t two_chain_rows = 0;

    POCKETMT_INLINE static Floats load_first(const float* from, size_t valid) {
        return _mm256_maskload_ps(from, mask(valid));
    }
    POCKETMT_INLINE static void store_first(float* to, size_t valid, Floats values) {
        if (valid >= lanes) return _mm256_storeu_ps(to, values);
        _mm256_maskstore_ps(to, mask(valid), values);
    }
    POCKETMT_INLINE static Floats to_floats(Integers values) { return _mm256_cvtepi32_ps((__m256i)values); }
    POCKETMT_INLINE static Floats positive(Floats values) { return _mm256_max_ps(values, _mm256_setzero_ps()); }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return _mm256_fmadd_ps(a, b, sums); }

    template <class Pair>
    POCKETMT_INLINE static void store_low_bytes(int8_t* to, Pair values) {
        const __m256i mask = _mm256_set1_epi32(0xff);
        const __m256i halves = _mm256_packus_epi32(_mm256_and_si256((__m256i)values.low, mask),
                                                   _mm256_and_si256((__m256i)values.high, mask));
        const __m256i words = _mm256_permute4x64_epi64(halves, 0xd8);  // The packing is separate in each 128 bits.
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                         _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
    }

    POCKETMT_INLINE static Bytes repeat(const void* sixteen) {
        return (Bytes)_mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(sixteen)));
    }
    POCKETMT_INLINE static Bytes look_up(Bytes table, Bytes indices) {
        return (Bytes)_mm256_shuffle_epi8((__m256i)table, (__m256i)indices);
    }
    POCKETMT_INLINE static Integers add_up(const Integers (&sums)[4]) {
        return (Integers)_mm256_hadd_epi32(_mm256_hadd_epi32((__m256i)sums[0], (__m256i)sums[1]),
                                           _mm256_hadd_epi32((__m256i)sums[2], (__m256i)sums[3]));
    }
    inline static int32_t sum_codes(const int8_t* codes, size_t columns) {
        __m256i sum = _mm256_setzero_si256();
        for (size_t column = 0; column < columns; column += bytes) {
            const __m256i loaded = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + column));
            const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), loaded);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
        int32_t total = 0;
        for (size_t lane = 0; lane < lanes; ++lane) total += ((Integers)sum)[lane];
        return total;
    }

    using Step = const int8_t*;
    POCKETMT_INLINE static Step load_step(const int8_t* codes) { return codes; }
    template <size_t group>
    POCKETMT_INLINE static Bytes group_inputs(Step codes) {
        int32_t four;
        __builtin_memcpy(&four, codes + 4 * group, sizeof four);
        return (Bytes)broadcast(four);
    }
    POCKETMT_INLINE static Bytes sixteen_inputs(const int8_t* codes) { return repeat(codes); }

    struct ByteSums {
        __m256i even = _mm256_setzero_si256();  // Of even bytes, + 256 * odd, modulo 2^16.
        __m256i odd = _mm256_setzero_si256();

        POCKETMT_INLINE void add(Bytes values) {
            even = _mm256_add_epi16(even, (__m256i)values);
            odd = _mm256_add_epi16(odd, _mm256_srli_epi16((__m256i)values, 8));
        }
        POCKETMT_INLINE void widen(Integers (&sums)[4]) const {
            const __m256i alone = _mm256_sub_epi16(even, _mm256_slli_epi16(odd, 8));
            const __m256i first = _mm256_unpacklo_epi16(alone, odd), second = _mm256_unpackhi_epi16(alone, odd);
            sums[0] = (Integers)_mm256_cvtepu16_epi32(_mm256_castsi256_si128(first));
            sums[1] = (Integers)_mm256_cvtepu16_epi32(_mm256_castsi256_si128(second));
            sums[2] = (Integers)_mm256_cvtepu16_epi32(_mm256_extracti128_si256(first, 1));
            sums[3] = (Integers)_mm256_cvtepu16_epi32(_mm256_extracti128_si256(second, 1));
        }
    };

    // Both tables at once: the low parts in the lower 16 bytes, the high parts in the upper ones.
    static void fill_subset_sums(const int8_t* codes, uint8_t* table, int8_t high_offset) {
        const __m256i all = (__m256i)group_inputs<0>(codes);
        const __m256i nibble = _mm256_set1_epi8(15), sign = _mm256_set1_epi8(8);
        const __m256i low = _mm256_and_si256(all, nibble);
        const __m256i high =
            _mm256_sub_epi8(_mm256_xor_si256(_mm256_and_si256(_mm256_srli_epi16(all, 4), nibble), sign), sign);
        const __m256i both = _mm256_blend_epi32(low, high, 0xf0);
        __m256i sums = _mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8(high_offset), 1);
        unrolled<4>([&](auto input) POCKETMT_INLINE_LAMBDA {
            const __m256i one = _mm256_shuffle_epi8(both, _mm256_set1_epi8(input()));
            sums = _mm256_add_epi8(sums, _mm256_and_si256(one, choices(input())));
        });
        _mm256_store_si256(reinterpret_cast<__m256i*>(table), sums);
    }

  private:
    // All bits set in the first `valid` lanes.
    POCKETMT_INLINE static __m256i mask(size_t valid) {
        const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(smaller(lanes, valid))), numbers);
    }
    // 255 in each entry whose subset holds the input.
    POCKETMT_INLINE static __m256i choices(int input) {
        const __m256i entries =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        const __m256i bit = _mm256_set1_epi8(static_cast<char>(1 << input));
        return _mm256_cmpeq_epi8(_mm256_and_si256(entries, bit), bit);
    }
};

}  // namespace
}  // namespace pocketmt
