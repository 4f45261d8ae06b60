// What the integer products and the bit plane product with NEON share.
#pragma once

#include "intrinsics.h"
#include "kernels.h"
#include "neon_registers.h"

namespace pocketmt {
namespace {

constexpr size_t lanes = Registers::lanes;

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
