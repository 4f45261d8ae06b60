// Packed 4-bit codes of rows that have a table of levels each:
//   panels [panels][parts], each part: tables [4][lanes][16] int8, then codes [steps][4][lanes][16] bytes;
//   then scales and negative sums as 8-bit weights have them.
// 16 bytes of a register, a lane, are one output's: its table, or 32 of its inputs, input j of a step in the low nibble
// of byte j and input 16 + j in the high one. A part is as many outputs as four registers of `lanes` lanes have; lane l
// of register r is its output 4 l + r, so that adding up the lanes' sums leaves the outputs in order. Outputs are
// padded with tables of zeros; inputs with code 0, which meets activations that are 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t row_table_levels = 16;
constexpr size_t lane_bytes = 16;
constexpr size_t lane_inputs = 2 * lane_bytes;  // of a step
constexpr size_t part_registers = 4;

// Where the parts of a packed block lie, in bytes.
struct RowTableParts {
    size_t steps;
    size_t panel_bytes;
    size_t scales;
};

namespace {

constexpr RowTableParts row_table_parts(size_t rows, size_t columns) {
    const size_t steps = ceil_divide(columns, lane_inputs);
    const size_t panel_bytes = panel_outputs * lane_bytes * (1 + steps);
    return {steps, panel_bytes, panel_count(rows) * panel_bytes};
}

// Where the table of an output lies, in bytes; behind it, so many bytes from step to step, its codes.
template <size_t lanes>
constexpr size_t row_table_place(const RowTableParts& parts, size_t output) {
    constexpr size_t part_outputs = part_registers * lanes;
    const size_t in_part = output % part_outputs;
    const size_t lane = in_part % part_registers * lanes + in_part / part_registers;
    return output / part_outputs * (parts.panel_bytes / (panel_outputs / part_outputs)) + lane * lane_bytes;
}
template <size_t lanes>
constexpr size_t row_table_step_bytes = part_registers * lanes * lane_bytes;

}  // namespace

// `lanes`: of a register. Compiled once, for the baseline instruction set, in panels.cpp.
template <size_t lanes>
struct RowTablePanels {
    static size_t packed_bytes(size_t rows, size_t columns);
    static void pack(const uint8_t* codes, const float* scales, const int8_t* levels, size_t rows, size_t columns,
                     void* packed);
    static void unpack_row(const void* packed, size_t rows, size_t columns, size_t row, float* out);
    static void gather(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                       void* gathered);
};

extern template struct RowTablePanels<1>;
extern template struct RowTablePanels<2>;
extern template struct RowTablePanels<4>;

}  // namespace pocketmt
