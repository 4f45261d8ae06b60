// What the tiles of the integer products with AVX-512 VNNI share: sums of activations, products, and the way from sums
// to memory.
#pragma once

#include "intrinsics.h"
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

constexpr __mmask16 output_mask(size_t rows, size_t first_output) {
    const size_t valid = first_output < rows ? smaller(16, rows - first_output) : 0;
    return static_cast<__mmask16>((1u << valid) - 1u);
}

// value + sum(activations) * offset of the 16 outputs from `output` on, of which those in `mask` exist.
POCKETMT_INLINE __m512 add_offsets(const Epilogue& epilogue, size_t output, __mmask16 mask, int32_t activation_sum,
                                   __m512 activation_scale, __m512 value) {
    if (!epilogue.offsets) return value;
    const __m512 offsets = _mm512_mul_ps(activation_scale, _mm512_maskz_loadu_ps(mask, epilogue.offsets + output));
    return _mm512_add_ps(value, _mm512_mul_ps(_mm512_set1_ps(static_cast<float>(activation_sum)), offsets));
}

// relu(value + bias) of the 16 outputs from `output` on, of which those in `mask` exist, to `out`, where they begin.
POCKETMT_INLINE void store_outputs(const Epilogue& epilogue, size_t output, __mmask16 mask, __m512 value, float* out) {
    if (epilogue.bias) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, epilogue.bias + output));
    if (epilogue.relu) value = _mm512_max_ps(value, _mm512_setzero_ps());
    if (mask == 0xffff) {
        _mm512_storeu_ps(out, value);
    } else {
        _mm512_mask_storeu_ps(out, mask, value);
    }
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
