// Packed 4-bit codes with a table of levels for each row:
//   panels [panels][parts], each part: tables [4][lanes][16] int8, then codes [steps][4][lanes][16] bytes;
//   then scales and negative sums as 8-bit weights have them (integer_product/panels.h).
// 16 bytes of a register, a lane, belong to one output: they are its table, or the codes of 32 inputs, input j of a
// step in the low nibble of byte j and input 16 + j in the high one. A part has as many outputs as four registers have
// lanes; lane l of register r is its output 4 l + r, so that adding up the sums of each lane leaves the outputs in
// order. Outputs are padded with tables of zeros; inputs are padded with code 0, which is multiplied by activations
// that are 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t table_levels = 16;
constexpr size_t lane_bytes = 16;
constexpr size_t lane_inputs = 2 * lane_bytes;  // Inputs of a step.
constexpr size_t part_registers = 4;

// Where the parts of a packed block lie, in bytes.
struct RowLookupTableParts {
    size_t steps;
    size_t panel_bytes;
    size_t scales;
};

namespace {

constexpr RowLookupTableParts row_lookup_table_parts(const MatrixShape& shape) {
    const size_t steps = ceil_divide(shape.columns, lane_inputs);
    const size_t panel_bytes = panel_outputs * lane_bytes * (1 + steps);
    return {steps, panel_bytes, panel_count(shape.rows) * panel_bytes};
}

}  // namespace

// `lanes`: lanes of 16 bytes of a register. Compiled once, for the baseline instruction set, in panels.cpp.
template <size_t lanes>
struct RowLookupTablePanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
};

extern template struct RowLookupTablePanels<1>;
extern template struct RowLookupTablePanels<2>;
extern template struct RowLookupTablePanels<4>;

}  // namespace pocketmt
