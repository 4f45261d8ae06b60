// Packed 8-bit weights, one layout for every instruction set:
//   weights [panels][groups][32 outputs][4 inputs] bytes, then scales [panels * 32] floats, then, of signed weights,
//   negative sums [panels * 32] int32: of each output's negative weights, without their sign.
// Four neighbouring inputs of an output lie together because integer dot product instructions sum four products into
// one 32-bit lane; a panel is read once, in order. Outputs are padded to 32 and inputs to 8 with zero weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels.h"
#include "shapes.h"

namespace pocketmt {

constexpr size_t panel_outputs = 32;
constexpr size_t group_inputs = 4;
constexpr size_t group_bytes = panel_outputs * group_inputs;
constexpr size_t step_inputs = 8;  // two groups: what one load of packed 4-bit codes holds

namespace {

constexpr size_t panel_count(size_t rows) {
    return ceil_divide(rows, panel_outputs);
}
// The panels of the outputs that are asked for, of a matrix of `rows`.
constexpr size_t first_panel(const Outputs& outputs) {
    return outputs.first / panel_outputs;
}
constexpr size_t last_panel(const Outputs& outputs, size_t rows) {
    return panel_count(smaller(outputs.last, rows));
}
constexpr size_t step_count(size_t columns) {
    return ceil_divide(columns, step_inputs);
}
// What stands behind packed signed weights: a scale and a negative sum for each output, those of padding 0.
constexpr size_t output_bytes(size_t rows) {
    return panel_count(rows) * panel_outputs * (sizeof(float) + sizeof(int32_t));
}
constexpr int32_t negative_part(int weight) {
    return weight < 0 ? -weight : 0;
}

}  // namespace

// `offset` is added to each weight (modulo 256): instructions whose weights are unsigned take weight + 128.
template <uint8_t offset>
struct BytePanels {
    static size_t packed_bytes(size_t rows, size_t columns);
    static void pack(const int8_t* codes, const float* scales, size_t rows, size_t columns, void* packed);
    static void unpack_row(const void* packed, size_t rows, size_t columns, size_t row, float* out);
    static void gather(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                       void* gathered);
};

// Compiled once, for the baseline instruction set, in panels.cpp.
extern template struct BytePanels<0>;
extern template struct BytePanels<128>;

// Throws std::invalid_argument where 32-bit sums over `columns` products could overflow.
void require_integer_columns(size_t columns);

}  // namespace pocketmt
