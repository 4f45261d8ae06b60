// Sums of 8 neighbouring outputs -> bias, ReLU, memory; shared by the AVX2 products.
#pragma once

#include "intrinsics.h"
#include "kernels.h"
#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t lanes = 8;

// All bits set in the first `valid` lanes.
POCKETMT_INLINE __m256i lane_mask(size_t valid) {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(smaller(lanes, valid))), numbers);
}

// Writes relu(value + bias) of the outputs from `output` on, of which `valid` exist, to `out`, where they begin.
POCKETMT_INLINE void store_outputs(const Epilogue& epilogue, size_t output, size_t valid, __m256 value, float* out) {
    const __m256i mask = lane_mask(valid);
    if (epilogue.bias) value = _mm256_add_ps(value, _mm256_maskload_ps(epilogue.bias + output, mask));
    if (epilogue.relu) value = _mm256_max_ps(value, _mm256_setzero_ps());
    if (valid >= lanes) {
        _mm256_storeu_ps(out, value);
    } else {
        _mm256_maskstore_ps(out, mask, value);
    }
}

}  // namespace
}  // namespace pocketmt
