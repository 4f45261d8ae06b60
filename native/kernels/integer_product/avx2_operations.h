// What the tiles of the integer products with AVX2 share.
#pragma once

#include "avx2_registers.h"
#include "intrinsics.h"
#include "kernels.h"

namespace pocketmt {
namespace {

constexpr size_t lanes = Registers::lanes;
constexpr size_t highest_tile = 3;  // 12 sums, and room for weights among 16 registers

// Activations of one group of inputs, for every output.
POCKETMT_INLINE __m256i broadcast_group(const int8_t* codes) {
    int32_t four;
    __builtin_memcpy(&four, codes, sizeof four);
    return _mm256_set1_epi32(four);
}

// sums [rows]: of the codes of each row from `first_row` on; the codes beyond the columns are zero.
template <size_t rows>
inline void sum_rows(const QuantizedActivations& activations, size_t first_row, size_t columns, int32_t (&sums)[rows]) {
    for (size_t row = 0; row < rows; ++row) {
        const int8_t* codes = activations.codes + (first_row + row) * activations.stride;
        __m256i sum = _mm256_setzero_si256();
        for (size_t column = 0; column < columns; column += 32) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + column));
            const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
        alignas(32) int32_t lane_sums[lanes];
        _mm256_store_si256(reinterpret_cast<__m256i*>(lane_sums), sum);
        sums[row] = 0;
        for (const int32_t lane : lane_sums) sums[row] += lane;
    }
}

}  // namespace
}  // namespace pocketmt
