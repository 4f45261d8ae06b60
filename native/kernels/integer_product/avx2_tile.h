// Register tile of integer products on 256-bit registers: up to 3 rows of activations by one panel of 32 outputs, exact
// 32-bit sums. How four products are added to a sum is a parameter of the weights: `Products`, made of 32 bytes of
// them.
#pragma once

#include "integer_product/avx2_operations.h"
#include "integer_product/call.h"

namespace pocketmt {
namespace {

constexpr size_t parts = panel_outputs / lanes;
constexpr size_t part_bytes = lanes * group_inputs;

// 8-bit weights: a step is 2 groups of 4 inputs by 4 registers of 8 outputs.
template <class Products>
struct ByteWeights {
    using Loaded = Products;
    static constexpr size_t step_bytes = 2 * group_bytes;
    explicit ByteWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Loaded load(const uint8_t* step) const {
        const uint8_t* place = step + group * group_bytes + part * part_bytes;
        return Loaded(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(place)));
    }
};

template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    const Weights source(call);
    const size_t stride = call.activations.stride;
    const uint8_t* weights = range.weights;
    int32_t activation_sums[rows] = {};
    if (call.epilogue.offsets || Weights::Loaded::zero != 0)
        sum_rows(call.activations, range.first_row, call.steps * step_inputs, activation_sums);
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        __m256i sums[rows][parts];
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            const size_t output = panel * panel_outputs + part * lanes;
            sums[row][part] = Weights::Loaded::first_sums(call.negative_sums, output, activation_sums[row]);
        });
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += step_inputs) {
            unrolled<2 * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t group = index() / parts, part = index() % parts;
                const typename Weights::Loaded loaded = source.template load<group, part>(weights);
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    const __m256i four = broadcast_group(codes + row() * stride + group * group_inputs);
                    sums[row()][part] = loaded.add(sums[row()][part], four);
                });
            });
        }
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            const size_t output = panel * panel_outputs + part * lanes;
            store_sums<Registers>(call, range.first_row + row, activation_sums[row], output, sums[row][part]);
        });
    }
}

template <class Weights>
constexpr TileFunction tiles[] = {multiply_tile<1, Weights>, multiply_tile<2, Weights>,
                                  multiply_tile<highest_tile, Weights>};

}  // namespace
}  // namespace pocketmt
