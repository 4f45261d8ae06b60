// Packed 4-bit codes with one table of levels, in one layout for every instruction set:
//   levels [64] int8 (the 16 levels four times), codes [panels][steps][32 outputs][4] bytes, then scales and negative
//   sums as 8-bit weights have them (integer_product/panels.h).
// A byte holds two inputs of one output. Of the 8 inputs of a step, byte j has input j in its low nibble and input 4 +
// j in its high one, so that a mask and a shift give two groups of the 8-bit layout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t level_bytes = 64;

// Where the parts of a packed block lie, in bytes.
struct LookupTableParts {
    size_t panel_bytes;
    size_t codes;
    size_t scales;
};

namespace {

constexpr LookupTableParts lookup_table_parts(const MatrixShape& shape) {
    const size_t panel_bytes = step_count(shape.columns) * group_bytes;
    return {panel_bytes, level_bytes, level_bytes + panel_count(shape.rows) * panel_bytes};
}

}  // namespace

// Compiled once, for the baseline instruction set, in panels.cpp.
struct LookupTablePanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
};

}  // namespace pocketmt
