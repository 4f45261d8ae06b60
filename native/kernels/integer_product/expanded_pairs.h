// Prepared weights of an instruction set that multiplies a pair of rows of activations by two outputs at once.
#pragma once

#include "integer_product/expanded_part.h"

namespace pocketmt {
namespace {

// Adds the products of a step. Weights are loaded a part ahead of their products: more would not fit the registers.
template <class Set, size_t rows, class Sums>
POCKETMT_INLINE void add_expanded_step(const typename Set::PairWeights* weights, const int8_t* codes, size_t stride,
                                       Sums& sums) {
    constexpr size_t pairs = ceil_divide(rows, 2);
    typename Set::PairWeights loaded[expanded_parts];
    loaded[0] = Set::PairWeights::template loaded<0, expanded_parts>(weights);
    typename Set::RowPair inputs[pairs];
    unrolled<pairs>([&](auto pair) POCKETMT_INLINE_LAMBDA {
        constexpr size_t first = 2 * pair(), second = smaller(first + 1, rows - 1);
        inputs[pair()] = Set::load_pair(codes + first * stride, codes + second * stride);
    });
    unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
        constexpr size_t next = index() + 1;
        if constexpr (next < expanded_parts)
            loaded[next] = Set::PairWeights::template loaded<next, expanded_parts>(weights);
        unrolled<pairs>([&](auto pair) POCKETMT_INLINE_LAMBDA {
            sums[pair()][index()].add_in_order(inputs[pair()], loaded[index()]);
        });
    });
}

// As multiply_expanded_tile. An odd last row is multiplied twice, and stored once.
template <class Set, size_t rows, class Products>
void multiply_expanded_pairs(const IntegerCall& call, const ExpandedPart<typename Set::PairWeights>& part,
                             size_t first_row) {
    constexpr size_t pairs = ceil_divide(rows, 2);
    typename Set::PairSums sums[pairs][expanded_parts] = {};
    if (part.first_step > 0) {
        unrolled<pairs * expanded_parts>([&](auto each) POCKETMT_INLINE_LAMBDA {
            constexpr size_t pair = each() / expanded_parts, index = each() % expanded_parts;
            constexpr size_t first = 2 * pair, second = smaller(first + 1, rows - 1);
            sums[pair][index] = Set::PairSums::of_rows(Registers::load(part.sums_of(first_row + first, index)),
                                                       Registers::load(part.sums_of(first_row + second, index)));
        });
    }
    const size_t stride = call.activations.stride;
    const int8_t* codes = call.activations.codes + first_row * stride + part.first_step * step_inputs;
    const typename Set::PairWeights* weights = part.weights;
    for (size_t step = part.first_step; step < part.last_step; ++step, codes += step_inputs, weights += expanded_parts)
        add_expanded_step<Set, rows>(weights, codes, stride, sums);
    unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
        const auto sums_of = [&](auto row) POCKETMT_INLINE_LAMBDA {
            return sums[row() / 2][index()].template of_row<row() % 2>();
        };
        if (part.last_step < call.steps) {
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                const Registers::Integers sum = sums_of(row);
                __builtin_memcpy(part.sums_of(first_row + row(), index()), &sum, sizeof sum);
            });
        } else {
            store_sums<rows>(call, {nullptr, first_row, rows, 0, 0}, part.output_of(index()),
                             [&](auto row) POCKETMT_INLINE_LAMBDA {
                                 return sums_of(row) + Products::first_sums(call.negative_sums, part.output_of(index()),
                                                                            call.activation_sums[first_row + row()]);
                             });
        }
    });
}

// Weights are prepared for two groups of inputs at a time: [steps][parts].
template <class Set, class Source>
struct ExpandedPairs {
    using Weights = Source;
    using Products = typename Set::PairWeights;
    static constexpr size_t rows = Set::integer_rows, step_weights = expanded_parts;

    template <size_t first_part>
    POCKETMT_INLINE static void expand_step(const Weights& source, const uint8_t* step, Products* expanded) {
        unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            expanded[index()] = Products(source.template load<0, first_part + index()>(step),
                                         source.template load<1, first_part + index()>(step));
        });
    }
    static constexpr auto tiles = tile_functions<rows>(
        [](auto height) { return &multiply_expanded_pairs<Set, height(), typename Source::Products>; });
};

}  // namespace
}  // namespace pocketmt
