// Packed fp32 weights: [panels][columns][width] floats. A panel is `width` neighbouring outputs, the last one padded
// with zeros, so that a product reads the weights once, in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "product.h"

namespace pocketmt {

template <size_t width>
struct FloatPanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
};

// Compiled once, for the baseline instruction set, in panels.cpp.
extern template struct FloatPanels<16>;
extern template struct FloatPanels<32>;
extern template struct FloatPanels<64>;

}  // namespace pocketmt
