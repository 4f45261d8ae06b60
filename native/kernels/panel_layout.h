// The layout that packed integer weights of all kinds share: panels of 32 outputs, in which four neighbouring inputs of
// an output lie together, followed by a scale and a negative sum for each output.
#pragma once

#include <cstddef>
#include <cstdint>

#include "product.h"
#include "shapes.h"

namespace pocketmt {

constexpr size_t panel_outputs = 32;
constexpr size_t group_inputs = 4;
constexpr size_t group_bytes = panel_outputs * group_inputs;
constexpr size_t step_inputs = 8;  // Two groups: as many as one load of packed 4-bit codes holds.

namespace {

constexpr size_t panel_count(size_t rows) {
    return ceil_divide(rows, panel_outputs);
}
// The panels of the outputs that are asked for, of a matrix of `rows`; last_panel is one beyond the last.
constexpr size_t first_panel(const Outputs& outputs) {
    return outputs.first / panel_outputs;
}
constexpr size_t last_panel(const Outputs& outputs, size_t rows) {
    return panel_count(smaller(outputs.last, rows));
}
constexpr size_t step_count(size_t columns) {
    return ceil_divide(columns, step_inputs);
}
// Bytes of the scale and the negative sum of each output; those of padding are 0.
constexpr size_t output_bytes(size_t rows) {
    return panel_count(rows) * panel_outputs * (sizeof(float) + sizeof(int32_t));
}
constexpr int32_t negative_part(int weight) {
    return weight < 0 ? -weight : 0;
}

}  // namespace

}  // namespace pocketmt
