// Packed 4-bit codes with their table of levels, one layout for every instruction set:
//   levels [64] int8 (the 16 levels four times), codes [panels][steps][32 outputs][4] bytes, then scales and negative
//   sums as 8-bit weights have them.
// A byte holds two inputs of one output: of the 8 inputs of a step, byte j has input j in its low nibble and input 4 +
// j in its high one, so that a mask and a shift give two groups of the 8-bit layout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t level_bytes = 64;

// Where the parts of a packed block lie.
struct LevelPanelParts {
    size_t panel_bytes;
    size_t codes;   // offset in bytes
    size_t scales;  // offset in bytes
};

namespace {

constexpr LevelPanelParts level_panel_parts(size_t rows, size_t columns) {
    const size_t panel_bytes = step_count(columns) * group_bytes;
    return {panel_bytes, level_bytes, level_bytes + panel_count(rows) * panel_bytes};
}

}  // namespace

// Compiled once, for the baseline instruction set, in panels.cpp.
struct LevelPanels {
    static size_t packed_bytes(size_t rows, size_t columns);
    static void pack(const uint8_t* codes, const float* scales, const int8_t* levels, size_t rows, size_t columns,
                     void* packed);
    static void unpack_row(const void* packed, size_t rows, size_t columns, size_t row, float* out);
    static void gather(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                       void* gathered);
};

}  // namespace pocketmt
