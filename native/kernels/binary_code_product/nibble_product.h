// The product of binary codes by look-ups of bytes: four bits of a code look up the sum of the four activations that
// they choose, for a register of outputs at once. BiQGEMM (Jeon et al. 2020) and T-MAC look up such sums too.
#pragma once

#include "binary_code_product/nibble_tables.h"
#include "binary_code_product/panels.h"
#include "epilogue.h"
#include "integer_product/prefetch.h"

namespace pocketmt {
namespace {

using BinaryCodeLayout = ByteLayout;

constexpr size_t step_inputs_of_codes = ByteLayout::step_words * ByteLayout::word_inputs;
constexpr size_t step_bytes = ByteLayout::step_words * panel_outputs;
constexpr size_t step_nibbles = step_inputs_of_codes / nibble_inputs;
constexpr size_t step_table_bytes = step_nibbles * nibble_table_bytes;
// The sums of this many steps are at most 256 * 240, which 16 bits hold.
constexpr size_t exact_steps = 256;
// The tables of this many rows stay in the second-level cache while every panel passes over them.
constexpr size_t block_rows = 8;

constexpr size_t parts = panel_outputs / Registers::lanes;
// A register of bytes has the sums of `bytes` outputs, which four registers of integers hold.
constexpr size_t byte_parts = panel_outputs / Registers::bytes;

struct NibbleCall {
    const uint8_t* codes;
    const float* alphas;
    BinaryCodeParts block;
    MatrixShape shape;
    QuantizedActivations activations;
    const uint8_t* tables;  // Those of each row of activations, one row after the other.
    size_t row_table_bytes;
    Epilogue epilogue;
    Outputs outputs;

    size_t steps() const { return block.words / ByteLayout::step_words; }
    const uint8_t* plane(size_t panel, size_t bit) const {
        return codes + panel * block.panel_words + bit * block.words * panel_outputs;
    }
    const float* plane_alphas(size_t panel, size_t bit) const {
        return alphas + (panel * shape.bits + bit) * panel_outputs;
    }
};

// The rows and panels that a tile function multiplies.
struct NibbleRange {
    size_t first_row;
    size_t first_panel;
    size_t last_panel;  // One beyond the last.
};

using NibbleTile = void (*)(const NibbleCall&, const NibbleRange&);

// The sum of the entries that four indices of each output find in four tables of 16 bytes.
POCKETMT_INLINE Registers::Bytes looked_up(const uint8_t* tables, const Registers::Bytes (&indices)[step_nibbles]) {
    Registers::Bytes sum{};
    unrolled<step_nibbles>([&](auto nibble) POCKETMT_INLINE_LAMBDA {
        const auto table = Registers::repeat(tables + nibble() * nibble_table_bytes);
        const auto found = Registers::look_up(table, indices[nibble()]);
        sum = nibble() == 0 ? found : sum + found;
    });
    return sum;
}

// Adds the sums of at most exact_steps steps of a bit to sums [rows][parts]. tables: of the first row.
template <size_t rows>
POCKETMT_INLINE void sum_steps(const uint8_t* plane, size_t steps, const uint8_t* tables, size_t row_table_bytes,
                               Registers::Integers (&sums)[rows][parts]) {
    typename Registers::ByteSums low[rows][byte_parts], high[rows][byte_parts];
    for (size_t step = 0; step < steps; ++step, plane += step_bytes, tables += step_table_bytes) {
        if constexpr (rows > 1) prefetch<step_bytes>(plane);  // With one row, processors read ahead fast enough.
        unrolled<byte_parts>([&](auto byte_part) POCKETMT_INLINE_LAMBDA {
            Registers::Bytes indices[step_nibbles];
            unrolled<ByteLayout::step_words>([&](auto word) POCKETMT_INLINE_LAMBDA {
                const auto bits = Registers::load(plane + word() * panel_outputs + byte_part() * Registers::bytes);
                indices[word() * 2] = Registers::nibbles<0>(bits);
                indices[word() * 2 + 1] = Registers::nibbles<1>(bits);
            });
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                const uint8_t* row_tables = tables + row() * row_table_bytes;
                low[row()][byte_part()].add(looked_up(row_tables, indices));
                high[row()][byte_part()].add(looked_up(row_tables + nibble_table_bytes / 2, indices));
            });
        });
    }
    const int32_t offset = static_cast<int32_t>(steps * step_nibbles) * high_offset;
    unrolled<rows * byte_parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
        constexpr size_t row = index() / byte_parts, byte_part = index() % byte_parts;
        Registers::Integers low_sums[4], high_sums[4];
        low[row][byte_part].widen(low_sums);
        high[row][byte_part].widen(high_sums);
        unrolled<4>([&](auto part) POCKETMT_INLINE_LAMBDA {
            sums[row][byte_part * 4 + part()] += low_sums[part()] + (high_sums[part()] - offset) * high_factor;
        });
    });
}

// The operations of reference::multiply.
template <size_t rows>
void multiply_tile(const NibbleCall& call, const NibbleRange& range) {
    int32_t activation_sums[rows];
    for (size_t row = 0; row < rows; ++row) {
        const int8_t* codes = call.activations.codes + (range.first_row + row) * call.activations.stride;
        activation_sums[row] = Registers::sum_codes(codes, call.shape.columns);
    }
    const uint8_t* tables = call.tables + range.first_row * call.row_table_bytes;
    const float* activation_scales = call.activations.scales + range.first_row;
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        Registers::Floats values[rows][parts] = {};
        for (size_t bit = 0; bit < call.shape.bits; ++bit) {
            const uint8_t* plane = call.plane(panel, bit);
            Registers::Integers sums[rows][parts] = {};
            for (size_t step = 0; step < call.steps(); step += exact_steps) {
                sum_steps(plane + step * step_bytes, smaller(exact_steps, call.steps() - step),
                          tables + step * step_table_bytes, call.row_table_bytes, sums);
            }
            const float* alphas = call.plane_alphas(panel, bit);
            unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t row = index() / parts, part = index() % parts;
                const auto scale =
                    Registers::broadcast(activation_scales[row]) * Registers::load(alphas + part * Registers::lanes);
                const auto term = Registers::to_floats(sums[row][part] * 2 - activation_sums[row]) * scale;
                values[row][part] = bit == 0 ? term : values[row][part] + term;
            });
        }
        unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
            const size_t output = panel * panel_outputs + part() * Registers::lanes;
            store_quantized(
                OutputLanes(call.epilogue, call.outputs, call.shape.rows, range.first_row, output), activation_scales,
                activation_sums, [](const auto& body) POCKETMT_INLINE_LAMBDA { unrolled<rows>(body); },
                [&](auto row, float) POCKETMT_INLINE_LAMBDA { return values[row()][part()]; });
        });
    }
}

// There are too few registers for more rows.
constexpr auto nibble_tiles = tile_functions<2>([](auto rows) -> NibbleTile { return multiply_tile<rows()>; });

// Few rows make one tile, which reads all panels. More rows are computed a panel at a time, so that each panel is read
// from memory once.
inline void multiply_block(const NibbleCall& call, size_t count) {
    constexpr size_t highest = sizeof(nibble_tiles.functions) / sizeof(NibbleTile);
    const size_t first = first_panel(call.outputs), last = last_panel(call.outputs, call.shape.rows);
    if (count <= highest) return nibble_tiles.functions[count - 1](call, {0, first, last});
    for (size_t panel = first; panel < last; ++panel) {
        for_tiles<highest>(count, [&](size_t row, size_t height) {
            nibble_tiles.functions[height - 1](call, {row, panel, panel + 1});
        });
    }
}

inline void multiply_binary_codes(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                                  const Outputs& outputs) {
    const BinaryCodeParts block = binary_code_parts<ByteLayout>(matrix.shape);
    const uint8_t* codes = static_cast<const uint8_t*>(matrix.data);
    const float* alphas = reinterpret_cast<const float*>(codes + block.alphas);
    NibbleCall call{codes, alphas, block, matrix.shape, input.quantized, nullptr, 0, epilogue, outputs};
    call.row_table_bytes = call.steps() * step_table_bytes;
    NibbleTables tables(call.steps() * step_nibbles, smaller(input.count, block_rows));
    call.tables = tables.data();
    for (size_t row = 0; row < input.count; row += block_rows) {
        const size_t height = smaller(block_rows, input.count - row);
        for (size_t index = 0; index < height; ++index)
            tables.fill(index, call.activations.codes + index * call.activations.stride);
        multiply_block(call, height);
        call.activations.codes += height * call.activations.stride;
        call.activations.scales += height;
        call.outputs.values += height * call.outputs.stride;
    }
}

}  // namespace
}  // namespace pocketmt
