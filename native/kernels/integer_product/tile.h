// Register tile of the products with exact 32-bit sums: rows of activations by panels of 32 outputs.
#pragma once

#include "integer_product/call.h"

namespace pocketmt {
namespace {

constexpr size_t parts = panel_outputs / Registers::lanes;
constexpr size_t part_bytes = Registers::lanes * group_inputs;

// Weights: where the weights of a step come from, made of an IntegerCall, with
//   Products                     SignedWeights or SixBitWeights of the registers
//   step_bytes                   bytes of a step
//   load<group, part>(step)      the weights of a group of inputs and of the outputs of one register
template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    using Products = typename Weights::Products;
    constexpr size_t chains = rows <= Registers::two_chain_rows ? 2 : 1;
    constexpr size_t at_once = Registers::parts_at_once;
    const Weights source(call);
    const size_t stride = call.activations.stride;
    const uint8_t* weights = range.weights;
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        Registers::Integers sums[chains][rows][parts] = {};
        for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
            unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                const size_t output = panel * panel_outputs + part() * Registers::lanes;
                sums[0][row()][part()] =
                    Products::first_sums(call.negative_sums, output, call.activation_sums[range.first_row + row()]);
            });
        });
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += step_inputs) {
            Registers::Step inputs[rows];
            for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
                inputs[row()] = Registers::load_step(codes + row() * stride);
            });
            unrolled<2 * parts / at_once>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t group = index() * at_once / parts, first_part = index() * at_once % parts;
                Products loaded[at_once];
                unrolled<at_once>([&](auto part) POCKETMT_INLINE_LAMBDA {
                    loaded[part()] = source.template load<group, first_part + part()>(weights);
                });
                for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
                    const auto four = Registers::template group_inputs<group>(inputs[row()]);
                    unrolled<at_once>([&](auto part) POCKETMT_INLINE_LAMBDA {
                        loaded[part()].add(sums[group % chains][row()][first_part + part()], four);
                    });
                });
            });
        }
        for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
            unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                Registers::Integers sum = sums[0][row()][part()];
                if constexpr (chains == 2) sum += sums[1][row()][part()];
                const size_t output = panel * panel_outputs + part() * Registers::lanes;
                store_sums(call, range.first_row + row(), call.activation_sums[range.first_row + row()], output, sum);
            });
        });
    }
}

template <class Weights>
constexpr auto tiles =
    integer_tiles<Registers::integer_rows>([](auto rows) -> TileFunction { return multiply_tile<rows(), Weights>; });

}  // namespace
}  // namespace pocketmt
