// The registers of AVX-512: see avx2_registers.h.
#pragma once

#include "intrinsics.h"
#include "shapes.h"

namespace pocketmt {
namespace {

struct Registers {
    using Floats = __m512;
    using Integers = __m512i;
    static constexpr size_t lanes = 16;

    POCKETMT_INLINE static Floats broadcast(float value) { return _mm512_set1_ps(value); }
    POCKETMT_INLINE static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    POCKETMT_INLINE static Floats load_first(const float* from, size_t valid) {
        return _mm512_maskz_loadu_ps(mask(valid), from);
    }
    POCKETMT_INLINE static void store_first(float* to, size_t valid, Floats values) {
        if (valid >= lanes) return _mm512_storeu_ps(to, values);
        _mm512_mask_storeu_ps(to, mask(valid), values);
    }
    POCKETMT_INLINE static Floats positive(Floats values) { return _mm512_max_ps(values, _mm512_setzero_ps()); }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return _mm512_fmadd_ps(a, b, sums); }
    POCKETMT_INLINE static Floats to_floats(Integers values) { return _mm512_cvtepi32_ps(values); }
    POCKETMT_INLINE static Integers twice_less(Integers values, int32_t subtracted) {
        return _mm512_sub_epi32(_mm512_slli_epi32(values, 1), _mm512_set1_epi32(subtracted));
    }

  private:
    POCKETMT_INLINE static __mmask16 mask(size_t valid) {
        return static_cast<__mmask16>((1u << smaller(lanes, valid)) - 1u);
    }
};

}  // namespace
}  // namespace pocketmt
