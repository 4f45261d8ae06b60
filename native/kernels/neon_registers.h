// The registers of NEON: see avx2_registers.h.
#pragma once

#include "intrinsics.h"
#include "shapes.h"

namespace pocketmt {
namespace {

struct Registers {
    using Floats = float32x4_t;
    using Integers = int32x4_t;
    static constexpr size_t lanes = 4;

    POCKETMT_INLINE static Floats broadcast(float value) { return vdupq_n_f32(value); }
    POCKETMT_INLINE static Floats load(const float* from) { return vld1q_f32(from); }
    POCKETMT_INLINE static Floats load_first(const float* from, size_t valid) {
        if (valid >= lanes) return vld1q_f32(from);
        float copy[lanes] = {};
        for (size_t lane = 0; lane < valid; ++lane) copy[lane] = from[lane];
        return vld1q_f32(copy);
    }
    POCKETMT_INLINE static void store_first(float* to, size_t valid, Floats values) {
        if (valid >= lanes) return vst1q_f32(to, values);
        float copy[lanes];
        vst1q_f32(copy, values);
        for (size_t lane = 0; lane < valid; ++lane) to[lane] = copy[lane];
    }
    POCKETMT_INLINE static Floats positive(Floats values) { return vmaxnmq_f32(values, vdupq_n_f32(0.0f)); }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return vfmaq_f32(sums, a, b); }
    POCKETMT_INLINE static Floats to_floats(Integers values) { return vcvtq_f32_s32(values); }
    POCKETMT_INLINE static Integers twice_less(Integers values, int32_t subtracted) {
        return vsubq_s32(vshlq_n_s32(values, 1), vdupq_n_s32(subtracted));
    }
};

}  // namespace
}  // namespace pocketmt
