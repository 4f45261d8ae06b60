// What the tiles of the integer products with AVX-512 VNNI share: sums of activations, and products.
#pragma once

#include "avx512_registers.h"
#include "kernels.h"
#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t highest_tile = 12;  // 24 sums, and room for weights among 32 registers

// Activations of one group of inputs, for every output.
POCKETMT_INLINE __m512i broadcast_group(const int8_t* codes) {
    int32_t four;
    __builtin_memcpy(&four, codes, sizeof four);
    return _mm512_set1_epi32(four);
}

// sums += weights * codes. As assembly, because GCC 12 moves the intrinsic's sums from register to register and runs
// out of them.
POCKETMT_INLINE void add_products(__m512i& sums, __m512i weights, __m512i codes) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(weights), "v"(codes));
}

// sums [count]: of the codes of each row.
inline void sum_rows(const QuantizedActivations& activations, size_t columns, size_t count, int32_t* sums) {
    const __m512i ones = _mm512_set1_epi8(1);
    for (size_t row = 0; row < count; ++row) {
        const int8_t* codes = activations.codes + row * activations.stride;
        __m512i sum = _mm512_setzero_si512();
        for (size_t column = 0; column < columns; column += 64) {
            sum = _mm512_dpbusd_epi32(sum, ones, _mm512_loadu_si512(codes + column));
        }
        sums[row] = _mm512_reduce_add_epi32(sum);
    }
}

// Activations in blocks that stay in the second-level cache while every panel passes over them:
// multiply(call for the block, rows in the block).
template <class Call, class Multiply>
inline void for_row_blocks(Call call, size_t columns, size_t count, Multiply&& multiply) {
    constexpr size_t block_rows = 20 * highest_tile;
    int32_t sums[block_rows];
    call.activation_sums = sums;
    for (size_t row = 0; row < count; row += block_rows) {
        const size_t height = smaller(block_rows, count - row);
        sum_rows(call.activations, columns, height, sums);
        multiply(call, height);
        call.activations.codes += height * call.activations.stride;
        call.activations.scales += height;
        call.outputs.values += height * call.outputs.stride;
    }
}

}  // namespace
}  // namespace pocketmt
