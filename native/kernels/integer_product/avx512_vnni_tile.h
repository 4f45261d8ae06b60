// Register tile of integer products with vpdpbusd: up to 12 rows of activations by one panel of 32 outputs, exact
// 32-bit sums. The instruction multiplies unsigned by signed bytes: weights come as weight + zero, so sums start at
// -zero * sum(activations).
#pragma once

#include "integer_product/avx512_vnni_operations.h"
#include "integer_product/call.h"

namespace pocketmt {
namespace {

// 8-bit weights: a step is 2 groups of 4 inputs by 2 registers of 16 outputs.
struct ByteWeights {
    static constexpr size_t step_bytes = 2 * group_bytes;
    static constexpr int32_t zero = 128;
    explicit ByteWeights(const IntegerCall&) {}
    POCKETMT_INLINE void load(const uint8_t* step, __m512i (&weights)[4]) const {
        unrolled<4>([&](auto i) POCKETMT_INLINE_LAMBDA { weights[i()] = _mm512_loadu_si512(step + i() * 64); });
    }
};

template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    constexpr size_t chains = rows <= 2 ? 2 : 1;  // few sums: a chain for each group hides the instruction's latency
    const Weights source(call);
    const uint8_t* weights = range.weights;
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        __m512i sums[chains][rows][2] = {};
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            const int32_t first_sum = -Weights::zero * call.activation_sums[range.first_row + row()];
            sums[0][row()][0] = sums[0][row()][1] = _mm512_set1_epi32(first_sum);
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
            store_sums<Registers>(call, range.first_row + row, call.activation_sums[range.first_row + row], output,
                                  sum);
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

}  // namespace
}  // namespace pocketmt
