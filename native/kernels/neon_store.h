// Sums of 4 neighbouring outputs -> bias, ReLU, memory; shared by the NEON products.
#pragma once

#include "intrinsics.h"
#include "kernels.h"
#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t lanes = 4;

// The first `valid` of four floats; the others are 0, and memory beyond them is not touched.
POCKETMT_INLINE float32x4_t load_first(const float* from, size_t valid) {
    if (valid >= lanes) return vld1q_f32(from);
    float copy[lanes] = {};
    for (size_t lane = 0; lane < valid; ++lane) copy[lane] = from[lane];
    return vld1q_f32(copy);
}

// Writes relu(value + bias) of the outputs from `output` on, of which `valid` exist, to `out`, where they begin.
POCKETMT_INLINE void store_outputs(const Epilogue& epilogue, size_t output, size_t valid, float32x4_t value,
                                   float* out) {
    if (epilogue.bias) value = vaddq_f32(value, load_first(epilogue.bias + output, valid));
    if (epilogue.relu) value = vmaxnmq_f32(value, vdupq_n_f32(0.0f));  // what is no number becomes 0, as on every CPU
    if (valid >= lanes) {
        vst1q_f32(out, value);
    } else {
        float copy[lanes];
        vst1q_f32(copy, value);
        for (size_t lane = 0; lane < valid; ++lane) out[lane] = copy[lane];
    }
}

}  // namespace
}  // namespace pocketmt
