// The product of many rows of activations on registers whose weights must be prepared before each multiplication: half
// a panel is prepared once, in memory that stays in the first-level cache, and then multiplied by all rows.
#pragma once

#include "integer_product/expanded_pairs.h"
#include "integer_product/expanded_part.h"
#include "integer_product/tile.h"

namespace pocketmt {
namespace {

// Whether weights have a product of two groups of inputs at once.
template <class Products>
constexpr bool by_two = requires(Registers::Integers& sums, const Products& weights, Registers::Bytes inputs) {
    Products::add_two(sums, weights, inputs, weights, inputs);
};
// Rows of a tile: as many as leave registers for the weights.
template <class Products>
constexpr size_t expanded_rows = by_two<Products> ? 4 : 5;

// What the rows of a tile are multiplied by, made of prepared weights.
template <class Products>
struct Loaded {
    using Type = Products;
};
template <class Products>
    requires requires { typename Products::InMemory; }
struct Loaded<Products> {
    using Type = typename Products::InMemory;
};

// Adds the products of a step: of two groups of inputs.
template <size_t rows, class Products>
POCKETMT_INLINE void add_step(const Products* weights, const int8_t* codes, size_t stride,
                              Registers::Integers (&sums)[rows][expanded_parts]) {
    if constexpr (by_two<Products>) {
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            const auto first = Registers::template group_inputs<0>(codes + row() * stride);
            const auto second = Registers::template group_inputs<1>(codes + row() * stride);
            unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                Products::add_two(sums[row()][index()], weights[index()], first, weights[expanded_parts + index()],
                                  second);
            });
        });
    } else {
        Registers::Step steps[rows];
        unrolled<rows>([&](auto row)
                           POCKETMT_INLINE_LAMBDA { steps[row()] = Registers::load_step(codes + row() * stride); });
        unrolled<2>([&](auto group) POCKETMT_INLINE_LAMBDA {
            typename Loaded<Products>::Type loaded[expanded_parts];
            unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                loaded[index()] = typename Loaded<Products>::Type(weights[group() * expanded_parts + index()]);
            });
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                const auto inputs = Registers::template group_inputs<group()>(steps[row()]);
                unrolled<expanded_parts>(
                    [&](auto index) POCKETMT_INLINE_LAMBDA { loaded[index()].add(sums[row()][index()], inputs); });
            });
        });
    }
}

template <size_t rows, class Products>
void multiply_expanded_tile(const IntegerCall& call, const ExpandedPart<Products>& part, size_t first_row) {
    Registers::Integers sums[rows][expanded_parts];
    const auto for_sums = [&](auto&& body) POCKETMT_INLINE_LAMBDA {
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            unrolled<expanded_parts>(
                [&](auto index) POCKETMT_INLINE_LAMBDA { body(first_row + row(), index(), sums[row()][index()]); });
        });
    };
    for_sums([&](size_t row, size_t index, auto& sum) POCKETMT_INLINE_LAMBDA {
        sum = part.first_step == 0
                  ? Products::first_sums(call.negative_sums, part.output_of(index), call.activation_sums[row])
                  : Registers::load(part.sums_of(row, index));
    });
    const size_t stride = call.activations.stride;
    const int8_t* codes = call.activations.codes + first_row * stride + part.first_step * step_inputs;
    const Products* weights = part.weights;
    for (size_t step = part.first_step; step < part.last_step; ++step, codes += step_inputs) {
        add_step<rows>(weights, codes, stride, sums);
        weights += 2 * expanded_parts;
    }
    if (part.last_step < call.steps) {
        for_sums([&](size_t row, size_t index, const auto& sum)
                     POCKETMT_INLINE_LAMBDA { __builtin_memcpy(part.sums_of(row, index), &sum, sizeof sum); });
    } else {
        unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            store_sums<rows>(call, {nullptr, first_row, rows, 0, 0}, part.output_of(index()),
                             [&](auto row) POCKETMT_INLINE_LAMBDA { return sums[row()][index()]; });
        });
    }
}

// Weights are prepared one register at a time: [steps][groups][parts] of Products.
template <class Source>
struct ExpandedRows {
    using Weights = Source;
    using Products = typename Source::Products;
    static constexpr size_t rows = expanded_rows<Products>, step_weights = 2 * expanded_parts;

    template <size_t first_part>
    POCKETMT_INLINE static void expand_step(const Weights& source, const uint8_t* step, Products* expanded) {
        unrolled<2>([&](auto group) POCKETMT_INLINE_LAMBDA {
            unrolled<expanded_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                *expanded++ = source.template load<group(), first_part + index()>(step);
            });
        });
    }
    static constexpr auto tiles =
        tile_functions<rows>([](auto height) { return &multiply_expanded_tile<height(), Products>; });
};

// How weights are prepared on registers Set.
template <class Set, class Weights>
struct ExpandedFor {
    using Method = ExpandedRows<Weights>;
};
template <class Set, class Weights>
    requires requires { typename Set::RowPair; }
struct ExpandedFor<Set, Weights> {
    using Method = ExpandedPairs<Set, Weights>;
};

// Prepares the weights of some steps of half a panel, from part `first_part` on.
template <class Method, size_t first_part>
POCKETMT_INLINE void expand(const IntegerCall& call, const uint8_t* panel, size_t first_step, size_t last_step,
                            typename Method::Products* expanded) {
    constexpr size_t step_bytes = Method::Weights::step_bytes;
    const typename Method::Weights source(call);
    for (size_t step = first_step; step < last_step; ++step, expanded += Method::step_weights) {
        const uint8_t* bytes = panel + step * step_bytes;
        prefetch_panel<step_bytes / 2>(call, bytes + (first_part == 0 ? 0 : step_bytes / 2));
        Method::template expand_step<first_part>(source, bytes, expanded);
    }
}

template <class Method>
void multiply_expanded(const IntegerCall& call, size_t count) {
    typename Method::Products expanded[expanded_steps * Method::step_weights];
    int32_t sums[block_rows][expanded_outputs];
    const size_t first = first_panel(call.outputs), last = last_panel(call.outputs, call.rows);
    for (size_t panel = first; panel < last; ++panel) {
        const uint8_t* weights = call.weights + panel * call.panel_bytes;
        unrolled<2>([&](auto half) {
            const size_t output = panel * panel_outputs + half() * expanded_outputs;
            for (size_t step = 0; step < call.steps; step += expanded_steps) {
                const size_t end = smaller(step + expanded_steps, call.steps);
                expand<Method, half() * expanded_parts>(call, weights, step, end, expanded);
                const ExpandedPart<typename Method::Products> part{expanded, step, end, output, sums};
                for_tiles<Method::rows>(
                    count, [&](size_t row, size_t height) { Method::tiles.functions[height - 1](call, part, row); });
            }
        });
    }
}

// The product of a block of rows: prepared weights for `fewest` rows and more, if it is not 0, `tiles` for fewer.
template <class Weights, size_t fewest, class Tiles>
void multiply_rows(const IntegerCall& call, size_t count, const Tiles& tiles) {
    if constexpr (fewest > 0) {
        if (count >= fewest) return multiply_expanded<typename ExpandedFor<Registers, Weights>::Method>(call, count);
    }
    multiply_panels(call, count, tiles);
}

}  // namespace
}  // namespace pocketmt
