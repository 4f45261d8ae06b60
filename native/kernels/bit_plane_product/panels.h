// Packed bit planes with their factors, one layout for every instruction set:
//   planes [panels][bits][steps][32 outputs][4 bytes], then alphas [panels][bits][32 outputs] floats.
// A step is 32 inputs: bit k of byte j of an output is the weight's sign for input 4 * k + j of the step, so that a
// mask of one bit in every byte gives the 4 neighbouring inputs of each output that an integer dot product sums into
// one 32-bit lane. Outputs and inputs are padded with zero bits, outputs with zero factors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr size_t plane_step_inputs = 32;
constexpr size_t plane_step_bytes = panel_outputs * group_inputs;

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
};

}  // namespace pocketmt
