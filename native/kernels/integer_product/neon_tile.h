// Register tile of integer products with NEON's dot product: up to 3 rows of activations by one panel of 32 outputs.
// The instruction adds four products of signed bytes to each 32-bit sum, exactly, whatever the bytes are.
#pragma once

#include "integer_product/call.h"
#include "integer_product/neon_operations.h"

namespace pocketmt {
namespace {

constexpr size_t highest_tile = 3;  // 24 sums, and room for weights and activations among 32 registers
constexpr size_t parts = panel_outputs / lanes;
constexpr size_t part_bytes = lanes * group_inputs;

// 8-bit weights: a step is 2 groups of 4 inputs by 8 registers of 4 outputs.
struct ByteWeights {
    static constexpr size_t step_bytes = 2 * group_bytes;
    explicit ByteWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE int8x16_t load(const uint8_t* step) const {
        return vreinterpretq_s8_u8(vld1q_u8(step + group * group_bytes + part * part_bytes));
    }
};

template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    const Weights source(call);
    const size_t stride = call.activations.stride;
    const uint8_t* weights = range.weights;
    int32_t activation_sums[rows] = {};
    if (call.epilogue.offsets) sum_rows(call.activations, range.first_row, call.steps * step_inputs, activation_sums);
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        int32x4_t sums[rows][parts] = {};
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += step_inputs) {
            int8x8_t inputs[rows];
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA { inputs[row()] = vld1_s8(codes + row() * stride); });
            unrolled<2 * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t group = index() / parts, part = index() % parts;
                const int8x16_t loaded = source.template load<group, part>(weights);
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    sums[row()][part] = vdotq_lane_s32(sums[row()][part], loaded, inputs[row()], group);
                });
            });
        }
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            store_sums<Registers>(call, range.first_row + row, activation_sums[row],
                                  panel * panel_outputs + part * lanes, sums[row][part]);
        });
    }
}

template <class Weights>
constexpr TileFunction tiles[] = {multiply_tile<1, Weights>, multiply_tile<2, Weights>,
                                  multiply_tile<highest_tile, Weights>};

}  // namespace
}  // namespace pocketmt
