// Register tile of integer products with vpdpbusd: up to 12 rows of activations by one panel of 32 outputs, exact
// 32-bit sums. The instruction multiplies unsigned by signed bytes: weights come as weight + 128, so sums start at -128
// * sum(activations).
#pragma once

#include "integer_product/call.h"
#include "intrinsics.h"

namespace pocketmt {
namespace {

constexpr size_t highest_tile = 12;  // 24 sums, and room for weights among 32 registers

// 8-bit weights: a step is 2 groups of 4 inputs by 2 registers of 16 outputs.
struct ByteWeights {
    static constexpr size_t step_bytes = 2 * group_bytes;
    explicit ByteWeights(const IntegerCall&) {}
    POCKETMT_INLINE void load(const uint8_t* step, __m512i (&weights)[4]) const {
        unrolled<4>([&](auto i) POCKETMT_INLINE_LAMBDA { weights[i()] = _mm512_loadu_si512(step + i() * 64); });
    }
};

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

// Sums of one row over 32 outputs -> floats: the operations of reference::integer_product.
POCKETMT_INLINE void store_sums(const IntegerCall& call, size_t row, size_t output, __mmask16 mask, __m512i sums) {
    const __m512 scale =
        _mm512_mul_ps(_mm512_set1_ps(call.activations.scales[row]), _mm512_loadu_ps(call.weight_scales + output));
    __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale);
    if (call.epilogue.bias) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, call.epilogue.bias + output));
    if (call.epilogue.relu) value = _mm512_max_ps(value, _mm512_setzero_ps());
    float* out = call.out + row * call.out_stride + output;
    if (mask == 0xffff) {
        _mm512_storeu_ps(out, value);
    } else {
        _mm512_mask_storeu_ps(out, mask, value);
    }
}

constexpr __mmask16 output_mask(size_t rows, size_t first_output) {
    const size_t valid = first_output < rows ? smaller(16, rows - first_output) : 0;
    return static_cast<__mmask16>((1u << valid) - 1u);
}

template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    constexpr size_t chains = rows <= 2 ? 2 : 1;  // few sums: a chain for each group hides the instruction's latency
    const Weights source(call);
    const uint8_t* weights = range.weights;
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        __m512i sums[chains][rows][2] = {};
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            sums[0][row()][0] = sums[0][row()][1] = _mm512_set1_epi32(call.first_sums[range.first_row + row()]);
        });
        const int8_t* codes = call.activations.codes + range.first_row * call.activations.stride;
        const size_t stride = call.activations.stride;
        for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += step_inputs) {
            __m512i loaded[4];
            source.load(weights, loaded);
            unrolled<2>([&](auto group) POCKETMT_INLINE_LAMBDA {
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    const __m512i four = broadcast_group(codes + row() * stride + group() * group_inputs);
                    auto& sum = sums[group() % chains][row()];
                    add_products(sum[0], loaded[group() * 2], four);
                    add_products(sum[1], loaded[group() * 2 + 1], four);
                });
            });
        }
        unrolled<rows * 2>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / 2, part = index() % 2;
            __m512i sum = sums[0][row][part];
            if constexpr (chains == 2) sum = _mm512_add_epi32(sum, sums[1][row][part]);
            const size_t output = panel * panel_outputs + part * 16;
            store_sums(call, range.first_row + row, output, output_mask(call.rows, output), sum);
        });
    }
}

template <class Weights, class Index>
struct TileTable;
template <class Weights, size_t... index>
struct TileTable<Weights, std::index_sequence<index...>> {
    static constexpr TileFunction functions[] = {multiply_tile<index + 1, Weights>...};
};
// Tile functions for 1 .. highest_tile rows.
template <class Weights>
constexpr auto& tiles = TileTable<Weights, std::make_index_sequence<highest_tile>>::functions;

// -128 * sum(activations) for `count` rows.
inline void offset_sums(const QuantizedActivations& activations, size_t columns, size_t count, int32_t* first_sums) {
    const __m512i ones = _mm512_set1_epi8(1);
    for (size_t row = 0; row < count; ++row) {
        const int8_t* codes = activations.codes + row * activations.stride;
        __m512i sums = _mm512_setzero_si512();
        for (size_t column = 0; column < columns; column += 64) {
            sums = _mm512_dpbusd_epi32(sums, ones, _mm512_loadu_si512(codes + column));
        }
        first_sums[row] = -128 * _mm512_reduce_add_epi32(sums);
    }
}

// Activations in blocks that stay in the second-level cache while every panel passes over them:
// multiply(call for the block, rows in the block).
template <class Multiply>
inline void for_row_blocks(IntegerCall call, size_t columns, size_t count, Multiply&& multiply) {
    constexpr size_t block_rows = 20 * highest_tile;
    int32_t first_sums[block_rows];
    call.first_sums = first_sums;
    for (size_t row = 0; row < count; row += block_rows) {
        const size_t height = smaller(block_rows, count - row);
        offset_sums(call.activations, columns, height, first_sums);
        multiply(call, height);
        call.activations.codes += height * call.activations.stride;
        call.activations.scales += height;
        call.out += height * call.out_stride;
    }
}

}  // namespace
}  // namespace pocketmt
