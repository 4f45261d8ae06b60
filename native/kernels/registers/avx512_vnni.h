// AVX-512 with VNNI: see avx_vnni.h for its multiplication.
#pragma once

#include "registers/vectors.h"
#include "registers/x86_features.h"

#define POCKETMT_LOOKS_UP_WORDS

namespace pocketmt {
namespace {

POCKETMT_INLINE Float8 maximum(Float8 a, Float8 b) {
    return _mm256_max_ps(a, b);
}
POCKETMT_INLINE Float16 maximum(Float16 a, Float16 b) {
    return _mm512_max_ps(a, b);
}
POCKETMT_INLINE bool any_greater(Float16 a, Float16 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0;
}

struct Registers : VectorRegisters<16> {
    static constexpr CpuRequirements requirements{
        {has_avx, has_fma, has_avx2, has_avx512f, has_avx512dq, has_avx512bw, has_avx512vl, has_avx512_vnni},
        saves_avx512};
    // There are 32 registers: 24 sums, and the rest for weights, tables and activations.
    static constexpr size_t float_outputs = 64;
    static constexpr size_t float_rows = 6;
    static constexpr size_t integer_rows = 12;
    static constexpr size_t row_lookup_rows = 6;
    static constexpr size_t parts_at_once = 2;
    static constexpr size_t two_chain_rows = 4;
    static constexpr bool reads_far_ahead = true;

    POCKETMT_INLINE static Floats load_first(const float* from, size_t valid) {
        return _mm512_maskz_loadu_ps(mask(valid), from);
    }
    POCKETMT_INLINE static void store_first(float* to, size_t valid, Floats values) {
        if (valid >= lanes) return _mm512_storeu_ps(to, values);
        _mm512_mask_storeu_ps(to, mask(valid), values);
    }
    POCKETMT_INLINE static void store_low_bytes(int8_t* to, Floats values) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_castps_si512(values)));
    }
    POCKETMT_INLINE static Floats to_floats(Integers values) { return _mm512_cvtepi32_ps((__m512i)values); }
    POCKETMT_INLINE static Floats positive(Floats values) { return _mm512_max_ps(values, _mm512_setzero_ps()); }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return _mm512_fmadd_ps(a, b, sums); }

    POCKETMT_INLINE static Bytes insert(Bytes low, Bytes high, uint8_t mask) {
        constexpr int either_low_or_masked_high = 0xf8;  // a | (b & c)
        return (Bytes)_mm512_ternarylogic_epi32((__m512i)low, (__m512i)high, _mm512_set1_epi8(static_cast<char>(mask)),
                                                either_low_or_masked_high);
    }
    POCKETMT_INLINE static Bytes repeat(const void* sixteen) {
        return (Bytes)_mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(sixteen)));
    }
    POCKETMT_INLINE static Bytes look_up(Bytes table, Bytes indices) {
        return (Bytes)_mm512_shuffle_epi8((__m512i)table, (__m512i)indices);
    }
    POCKETMT_INLINE static Integers add_up(const Integers (&sums)[4]) {
        const __m512i first = added_pairs(sums[0], sums[1]), second = added_pairs(sums[2], sums[3]);
        return (Integers)_mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
    }
    inline static int32_t sum_codes(const int8_t* codes, size_t columns) {
        __m512i sum = _mm512_setzero_si512();
        for (size_t column = 0; column < columns; column += bytes)
            sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), _mm512_loadu_si512(codes + column));
        return _mm512_reduce_add_epi32(sum);
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

    // 64 weights, stored as weight + offset, which is not negative.
    template <int32_t offset>
    struct OffsetWeights {
        static constexpr int32_t zero = offset;
        Bytes weights;

        OffsetWeights() = default;
        explicit OffsetWeights(Bytes given) : weights(given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
        // Assembly, because GCC 12 moves the intrinsic's sums from register to register and runs out of them.
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
            __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(weights), "v"(inputs));
        }
    };
    using SignedWeights = OffsetWeights<128>;
    using SixBitWeights = OffsetWeights<32>;

  private:
    POCKETMT_INLINE static __mmask16 mask(size_t valid) {
        return static_cast<__mmask16>((1u << smaller(lanes, valid)) - 1u);
    }
    POCKETMT_INLINE static __m512i added_pairs(Integers a, Integers b) {
        return _mm512_add_epi32(_mm512_unpacklo_epi32((__m512i)a, (__m512i)b),
                                _mm512_unpackhi_epi32((__m512i)a, (__m512i)b));
    }
};

}  // namespace
}  // namespace pocketmt
