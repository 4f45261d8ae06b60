// Packed 8-bit weights, in one layout for every instruction set:
//   weights [panels][groups][32 outputs][4 inputs] bytes, then scales [panels * 32] floats, then, if the weights have
//   no offset, negative sums [panels * 32] int32: the sum of the magnitudes of each output's negative weights, and
//   int32: the range of the weights.
// Four neighbouring inputs of an output lie together because integer dot product instructions add four products to one
// 32-bit lane. A product reads each panel once, in order. Outputs are padded to 32 and inputs to 8 with zero weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "panel_layout.h"
#include "product.h"

namespace pocketmt {

// Where all weights of a matrix lie.
enum class WeightRange : int32_t {
    symmetric,   // -127 to 127.
    any,         // -128 to 127.
    seven_bits,  // -64 to 63: two products of such a weight + 64 and an activation fit 16 bits.
};

// `offset` is added to each weight (modulo 256): instructions that multiply unsigned weights take weight + 128.
template <uint8_t offset>
struct BytePanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
    // `any` for weights with an offset, of which it is not known.
    static WeightRange range(const PackedMatrix& matrix);
};

// Compiled once, for the baseline instruction set, in panels.cpp.
extern template struct BytePanels<0>;
extern template struct BytePanels<128>;

// Throws std::invalid_argument where 32-bit sums over `columns` products could overflow.
void require_integer_columns(size_t columns);

}  // namespace pocketmt
