// Packed bit planes with their factors, for the instruction sets that look up sums by the byte, or not at all:
//   planes [panels][bits][steps][2][32 outputs] bytes, then alphas [panels][bits][32 outputs] floats.
// A step is 16 inputs: bit k of an output's first byte is the weight's sign for input k of the step, of its second for
// input 8 + k, so that each half of a byte says which of 4 neighbouring inputs are added. Outputs and inputs are padded
// with zero bits, outputs with zero factors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t plane_byte_inputs = 8;
constexpr size_t plane_step_inputs = 2 * plane_byte_inputs;
constexpr size_t plane_step_bytes = 2 * panel_outputs;

// Where the parts of a packed block lie.
struct PlanePanelParts {
    size_t steps;
    size_t plane_bytes;  // of one panel's plane
    size_t alphas;       // offset in bytes
};

namespace {

constexpr PlanePanelParts plane_panel_parts(size_t rows, size_t columns, size_t bits) {
    const size_t steps = ceil_divide(columns, plane_step_inputs);
    const size_t plane_bytes = steps * plane_step_bytes;
    return {steps, plane_bytes, panel_count(rows) * bits * plane_bytes};
}

}  // namespace

// Throws std::invalid_argument where there are too many columns or bits, or no bit.
void require_plane_shape(size_t columns, size_t bits);

// Compiled once, for the baseline instruction set, in panels.cpp.
struct PlanePanels {
    static size_t packed_bytes(size_t rows, size_t columns, size_t bits);
    static void pack(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits,
                     void* packed);
    static void unpack_row(const void* packed, size_t rows, size_t columns, size_t bits, size_t row, float* out);
    static void gather(const void* packed, size_t rows, size_t columns, size_t bits, const uint32_t* indices,
                       size_t count, void* gathered);
};

}  // namespace pocketmt
