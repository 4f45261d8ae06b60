// Half a panel of weights that are prepared for many rows.
#pragma once

#include "integer_product/call.h"

namespace pocketmt {
namespace {

constexpr size_t expanded_outputs = panel_outputs / 2;
constexpr size_t expanded_parts = expanded_outputs / Registers::lanes;
constexpr size_t expanded_steps = 64;  // Steps that are prepared at a time: of 512 inputs.

// Prepared weights of some steps and the sums of outputs from `output` on.
template <class Products>
struct ExpandedPart {
    const Products* weights;
    size_t first_step;
    size_t last_step;  // One beyond the last.
    size_t output;
    int32_t (*sums)[expanded_outputs];  // [rows], between parts of the same outputs.

    POCKETMT_INLINE size_t output_of(size_t index) const { return output + index * Registers::lanes; }
    POCKETMT_INLINE int32_t* sums_of(size_t row, size_t index) const { return sums[row] + index * Registers::lanes; }
};

}  // namespace
}  // namespace pocketmt
