// Packed 6-bit weights with one scale a row, in one layout for every instruction set:
//   codes [panels][steps][192] bytes, then scales [panels * 32] floats; a code is the weight + 32.
// A step is 8 inputs of 32 outputs: 128 bytes with the low 4 bits of each code, laid out as the codes of a lookup
// table, then 64 bytes with the high 2 bits of four codes each: bits 2 * r and 2 * r + 1 of byte k are those of byte k
// of the r-th 64 bytes of the 8-bit layout. Outputs and inputs are padded with zero weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

constexpr int six_bit_zero = 32;  // The code of weight 0.
constexpr size_t six_bit_low_bytes = group_bytes;
constexpr size_t six_bit_high_bytes = group_bytes / 2;
constexpr size_t six_bit_step_bytes = six_bit_low_bytes + six_bit_high_bytes;

namespace {

constexpr size_t six_bit_panel_bytes(size_t columns) {
    return step_count(columns) * six_bit_step_bytes;
}

}  // namespace

// Compiled once, for the baseline instruction set, in six_bit_panels.cpp.
struct SixBitPanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
};

}  // namespace pocketmt
