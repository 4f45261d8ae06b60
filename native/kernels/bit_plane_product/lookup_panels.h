// Packed bit planes as indices into tables of partial sums, for the instruction sets that look up 32 sums of 16 bits at
// once:
//   words [panels][words][bits][32 outputs] of 16 bits, then alphas [panels][bits][32 outputs] floats.
// A word holds three groups of 5 inputs; bit k of a group is the sign of its input k, and the group is an index from 0
// to 31. Outputs and inputs are padded with zero bits, outputs with zero factors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t lookup_inputs = 5;  // of a group
constexpr size_t word_groups = 3;
constexpr size_t word_inputs = word_groups * lookup_inputs;

// Where the parts of a packed block lie.
struct LookupPanelParts {
    size_t words;        // of a row
    size_t panel_words;  // from one panel to the next
    size_t alphas;       // offset in bytes
};

namespace {

constexpr LookupPanelParts lookup_panel_parts(size_t rows, size_t columns, size_t bits) {
    const size_t words = ceil_divide(columns, word_inputs);
    const size_t panel_words = words * bits * panel_outputs;
    return {words, panel_words, panel_count(rows) * panel_words * sizeof(uint16_t)};
}

}  // namespace

// Compiled once, for the baseline instruction set, in lookup_panels.cpp.
struct LookupPanels {
    static size_t packed_bytes(size_t rows, size_t columns, size_t bits);
    static void pack(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits,
                     void* packed);
    static void unpack_row(const void* packed, size_t rows, size_t columns, size_t bits, size_t row, float* out);
    static void gather(const void* packed, size_t rows, size_t columns, size_t bits, const uint32_t* indices,
                       size_t count, void* gathered);
};

}  // namespace pocketmt
