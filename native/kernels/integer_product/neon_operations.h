// What the integer products and the bit plane product with NEON share.
#pragma once

#include "intrinsics.h"
#include "kernels.h"
#include "neon_store.h"

namespace pocketmt {
namespace {

// value + sum(activations) * offset of the outputs from `output` on, of which `valid` exist.
POCKETMT_INLINE float32x4_t add_offsets(const Epilogue& epilogue, size_t output, size_t valid, int32_t activation_sum,
                                        float32x4_t activation_scale, float32x4_t value) {
    if (!epilogue.offsets) return value;
    const float32x4_t offsets = vmulq_f32(activation_scale, load_first(epilogue.offsets + output, valid));
    return vaddq_f32(value, vmulq_f32(vdupq_n_f32(static_cast<float>(activation_sum)), offsets));
}

// sums [rows]: of the codes of each row from `first_row` on; the codes beyond the columns are zero.
template <size_t rows>
inline void sum_rows(const QuantizedActivations& activations, size_t first_row, size_t columns, int32_t (&sums)[rows]) {
    for (size_t row = 0; row < rows; ++row) {
        const int8_t* codes = activations.codes + (first_row + row) * activations.stride;
        int32x4_t sum = vdupq_n_s32(0);
        for (size_t column = 0; column < columns; column += 16)
            sum = vdotq_s32(sum, vdupq_n_s8(1), vld1q_s8(codes + column));
        sums[row] = vaddvq_s32(sum);
    }
}

}  // namespace
}  // namespace pocketmt
