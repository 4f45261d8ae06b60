// Register tile of the product with a table of levels for each row, written once on the registers and look-ups of an
// instruction set: rows of activations by parts of four registers of outputs, exact 32-bit sums.
#pragma once

#include "integer_product/call.h"
#include "row_table_product/panels.h"

namespace pocketmt {
namespace {

// LookUps: of 16-byte lanes, one output each:
//   Registers, lanes, Bytes                   of a register
//   load(bytes), table(bytes)                 codes; levels as the multiplication takes them
//   levels<half>(table, codes)                of the low nibbles (half 0) or the high ones, as a Weights
//   broadcast(codes)                          16 activations, for every lane
//   Weights::add(sums, activations)           each lane's products added to its four 32-bit sums
//   added_up(sums [4])                        the sums of each lane, added up: those of a part's outputs, in order
//   corrected(call, sums, output, activation_sum)   what the multiplication did otherwise
//   activation_sums(call, first_row, sums)    sums [rows]: of the codes of each row, where they are needed
template <size_t rows, class LookUps>
void row_table_tile(const IntegerCall& call, const TileRange& range) {
    using Integers = typename LookUps::Registers::Integers;
    constexpr size_t part_outputs = part_registers * LookUps::lanes, register_bytes = LookUps::lanes * lane_bytes;
    constexpr size_t part_bytes = part_registers * register_bytes;
    constexpr size_t chains = rows == 1 ? 2 : 1;  // few sums: one for each half hides the instruction's latency
    int32_t activation_sums[rows] = {};
    LookUps::activation_sums(call, range.first_row, activation_sums);
    const size_t stride = call.activations.stride;
    const uint8_t* bytes = range.weights;
    for (size_t output = range.first_panel * panel_outputs; output < range.last_panel * panel_outputs;
         output += part_outputs) {
        typename LookUps::Bytes tables[part_registers];
        unrolled<part_registers>([&](auto index) POCKETMT_INLINE_LAMBDA {
            tables[index()] = LookUps::table(bytes + index() * register_bytes);
        });
        bytes += part_bytes;
        Integers sums[chains][rows][part_registers] = {};
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, bytes += part_bytes, codes += lane_inputs) {
            unrolled<part_registers>([&](auto index) POCKETMT_INLINE_LAMBDA {
                const auto loaded = LookUps::load(bytes + index() * register_bytes);
                unrolled<2>([&](auto half) POCKETMT_INLINE_LAMBDA {
                    const auto weights = LookUps::template levels<half()>(tables[index()], loaded);
                    unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                        const auto activations = LookUps::broadcast(codes + row() * stride + half() * lane_bytes);
                        Integers& sum = sums[half() % chains][row()][index()];
                        sum = weights.add(sum, activations);
                    });
                });
            });
        }
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            Integers sum = LookUps::added_up(sums[0][row()]);
            if constexpr (chains == 2) sum = LookUps::add(sum, LookUps::added_up(sums[1][row()]));
            sum = LookUps::corrected(call, sum, output, activation_sums[row()]);
            store_sums<typename LookUps::Registers>(call, range.first_row + row(), activation_sums[row()], output, sum);
        });
    }
}

// The call of a product whose tables and codes are `packed`.
inline IntegerCall row_table_call(const void* packed, size_t rows, size_t columns,
                                  const QuantizedActivations& activations, const Epilogue& epilogue,
                                  const Outputs& outputs) {
    const RowTableParts parts = row_table_parts(rows, columns);
    const uint8_t* bytes = static_cast<const uint8_t*>(packed);
    const float* scales = reinterpret_cast<const float*>(bytes + parts.scales);
    const int32_t* negative_sums = reinterpret_cast<const int32_t*>(scales + panel_count(rows) * panel_outputs);
    return {bytes,         rows,        parts.steps, parts.panel_bytes, nullptr, scales,
            negative_sums, activations, nullptr,     epilogue,          outputs};
}

}  // namespace
}  // namespace pocketmt
