// The registers of AVX2, for what is written once for all instruction sets (product_store.h and the tiles).
#pragma once

#include "intrinsics.h"
#include "shapes.h"

namespace pocketmt {
namespace {

struct Registers {
    using Floats = __m256;
    using Integers = __m256i;
    static constexpr size_t lanes = 8;

    POCKETMT_INLINE static Floats broadcast(float value) { return _mm256_set1_ps(value); }
    POCKETMT_INLINE static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    // The first `valid` lanes; the others are 0, and memory beyond them is not touched.
    POCKETMT_INLINE static Floats load_first(const float* from, size_t valid) {
        return _mm256_maskload_ps(from, mask(valid));
    }
    POCKETMT_INLINE static void store_first(float* to, size_t valid, Floats values) {
        if (valid >= lanes) return _mm256_storeu_ps(to, values);
        _mm256_maskstore_ps(to, mask(valid), values);
    }
    // 0 where it is negative or no number.
    POCKETMT_INLINE static Floats positive(Floats values) { return _mm256_max_ps(values, _mm256_setzero_ps()); }
    // sums + a * b, rounded once.
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return _mm256_fmadd_ps(a, b, sums); }
    // Of 32-bit numbers.
    POCKETMT_INLINE static Floats to_floats(Integers values) { return _mm256_cvtepi32_ps(values); }
    POCKETMT_INLINE static Integers twice_less(Integers values, int32_t subtracted) {
        return _mm256_sub_epi32(_mm256_slli_epi32(values, 1), _mm256_set1_epi32(subtracted));
    }

  private:
    // All bits set in the first `valid` lanes.
    POCKETMT_INLINE static __m256i mask(size_t valid) {
        const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(smaller(lanes, valid))), numbers);
    }
};

}  // namespace
}  // namespace pocketmt
