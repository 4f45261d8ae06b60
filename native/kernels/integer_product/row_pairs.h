// Tiles of an instruction set that multiplies a pair of rows of activations by two outputs at once.
#pragma once

#include "integer_product/call.h"

namespace pocketmt {
namespace {

// Whether a tile of `rows` multiplies pairs of rows.
template <class Set, size_t rows>
constexpr bool in_pairs = rows > 1 && requires { typename Set::RowPair; };

// Parts of a panel whose sums a tile of `rows` holds at once: all of them, or half.
template <size_t rows>
constexpr size_t pair_parts = panel_outputs / Registers::lanes / (rows <= 2 ? 1 : 2);

// Adds the products of one step. An odd last row is multiplied twice, and stored once. Set: the registers, a parameter
// because those of most instruction sets have no pairs.
template <class Set, size_t rows, class Weights, size_t first_part, class Sums>
POCKETMT_INLINE void add_step(const Weights& source, const uint8_t* weights, const int8_t* codes, size_t stride,
                              Sums& sums) {
    constexpr size_t pairs = ceil_divide(rows, 2);
    typename Set::RowPair inputs[pairs];
    unrolled<pairs>([&](auto pair) POCKETMT_INLINE_LAMBDA {
        constexpr size_t first = 2 * pair(), second = smaller(first + 1, rows - 1);
        inputs[pair()] = Set::load_pair(codes + first * stride, codes + second * stride);
    });
    unrolled<pair_parts<rows>>([&](auto part) POCKETMT_INLINE_LAMBDA {
        const typename Set::PairWeights both(source.template load<0, first_part + part()>(weights),
                                             source.template load<1, first_part + part()>(weights));
        unrolled<pairs>([&](auto pair) POCKETMT_INLINE_LAMBDA { sums[pair()][part()].add(inputs[pair()], both); });
    });
}

template <class Set, size_t rows, class Weights, size_t first_part>
POCKETMT_INLINE void multiply_pairs(const IntegerCall& call, const TileRange& range, size_t panel,
                                    const uint8_t* weights) {
    constexpr size_t pairs = ceil_divide(rows, 2), held = pair_parts<rows>;
    const Weights source(call);
    const size_t stride = call.activations.stride;
    typename Set::PairSums sums[pairs][held] = {};
    const int8_t* codes = call.activations.codes + range.first_row * stride;
    for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += step_inputs) {
        prefetch<Weights::step_bytes>(weights);
        add_step<Set, rows, Weights, first_part>(source, weights, codes, stride, sums);
    }
    unrolled<held>([&](auto part) POCKETMT_INLINE_LAMBDA {
        const size_t output = panel * panel_outputs + (first_part + part()) * Registers::lanes;
        store_sums<rows>(call, range, output, [&](auto row) POCKETMT_INLINE_LAMBDA {
            const int32_t activation_sum = call.activation_sums[range.first_row + row()];
            return sums[row() / 2][part()].template of_row<row() % 2>() +
                   Weights::Products::first_sums(call.negative_sums, output, activation_sum);
        });
    });
}

}  // namespace
}  // namespace pocketmt
