// Packed 8-bit weights, in one layout for every instruction set:
//   weights [panels][groups][32 outputs][4 inputs] bytes, then scales [panels * 32] floats, then, if the weights have
//   no offset, negative sums [panels * 32] int32: the sum of the magnitudes of each output's negative weights.
// Four neighbouring inputs of an output lie together because integer dot product instructions add four products to one
// 32-bit lane. A product reads each panel once, in order. Outputs are padded to 32 and inputs to 8 with zero weights.
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

// `offset` is added to each weight (modulo 256): instructions that multiply unsigned weights take weight + 128.
template <uint8_t offset>
struct BytePanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
};

// Compiled once, for the baseline instruction set, in panels.cpp.
extern template struct BytePanels<0>;
extern template struct BytePanels<128>;

// Throws std::invalid_argument where 32-bit sums over `columns` products could overflow.
void require_integer_columns(size_t columns);

}  // namespace pocketmt
